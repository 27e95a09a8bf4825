"""Train models on datasets, with the baselines of the literature."""
