"""Panels: people judge a blind sample, labels of a run (audit) or edited images (study)."""
