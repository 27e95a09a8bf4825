"""One module per annotation format."""
