"""What is made of a job's accepted images: a rebalanced dataset, and exports."""
