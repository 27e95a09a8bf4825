"""The part Audit of the page Annotate: people check labels of models, blind."""
