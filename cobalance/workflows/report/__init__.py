"""A report of a dataset as one self-contained HTML file."""
