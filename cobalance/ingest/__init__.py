"""Readers of annotation files in many formats, for the graph to load."""
