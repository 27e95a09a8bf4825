"""Load datasets: where files are, what a load would do, and the load itself."""
