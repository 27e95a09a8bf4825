"""The page Compare: the same diagnosis of two datasets."""
