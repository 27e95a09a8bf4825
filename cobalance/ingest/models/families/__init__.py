"""Families of models that score texts in images, one module each."""
