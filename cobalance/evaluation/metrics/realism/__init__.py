"""Realism scores of images by models of human preference, with weights that the user has."""
