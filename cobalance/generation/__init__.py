"""Plan, generate, filter and export the images that rebalance a dataset."""
