"""The page Before/after: the same diagnosis of two datasets."""
