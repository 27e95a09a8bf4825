"""The page Datasets: what is loaded, and importing more."""
