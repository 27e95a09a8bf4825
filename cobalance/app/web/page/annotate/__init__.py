"""Page Annotate: attributes and labels by models, and decisions on them."""
