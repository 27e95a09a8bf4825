"""The page Audit: people check labels of models, blind."""
