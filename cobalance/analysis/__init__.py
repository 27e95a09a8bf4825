"""What is counted and planned, from Python: imbalances, graphs, plans."""
