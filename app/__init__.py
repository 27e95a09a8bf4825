"""The command line and the one place that wires stores, readers and planners together."""
