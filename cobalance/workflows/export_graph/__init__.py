"""The concept graph for other tools: tables, networkx, and files."""

FORMATS = ("graphml", "gexf", "json", "neo4j")
"""Formats of files by name; all but ``neo4j``, a folder, are the suffix of a file."""
