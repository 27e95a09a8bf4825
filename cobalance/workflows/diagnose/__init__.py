"""Mine a dataset; its imbalances and next steps in words and tables."""
