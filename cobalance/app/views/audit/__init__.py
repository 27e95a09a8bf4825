"""Page Audit: people check labels of models, blind."""
