"""The page Diagnose: imbalances as a table, a graph and images."""
