"""Files beside the graph: one a dataset that is read by image id, and workers' output folder."""
