"""Tags that become concepts or exclusions, notes, and saved views of a dataset."""
