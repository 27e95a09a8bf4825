"""Export a job's dataset with its accepted images for training."""
