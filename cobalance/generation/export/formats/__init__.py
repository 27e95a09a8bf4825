"""One module per export format."""
