"""The concept graph for other tools: tables, networkx, and files."""
