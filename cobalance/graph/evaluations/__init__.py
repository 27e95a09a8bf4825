"""Evaluations: models trained on a dataset and tested on another, with their scores."""
