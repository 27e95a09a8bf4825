"""Does rebalancing help a model? Metrics, training methods and comparisons."""
