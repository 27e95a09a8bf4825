"""Annotations from files and frames, from Python, without a database."""
