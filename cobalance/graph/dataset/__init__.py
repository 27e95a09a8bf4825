"""One dataset in the graph: its images, cliques and plans, written and read back."""
