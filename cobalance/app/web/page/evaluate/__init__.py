"""The page Evaluate: whether models trained on the result are less biased."""
