"""The page Datasets: loaded datasets, and imports."""
