"""Load datasets: find files, check a load, and load."""
