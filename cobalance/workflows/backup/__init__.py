"""Back up datasets to one file, and restore them in any store."""
