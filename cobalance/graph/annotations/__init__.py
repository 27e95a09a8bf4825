"""Annotation runs, proposed attributes, and labels of accepted runs."""
