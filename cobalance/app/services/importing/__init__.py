"""Imports of annotations: where files are, what a load would do, a look at its images."""
