"""Files of datasets beside the graph: one a dataset, replaced at once, read by image id."""
