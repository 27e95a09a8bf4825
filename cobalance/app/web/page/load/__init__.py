"""The page Data: loaded datasets, and imports."""
