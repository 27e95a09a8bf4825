"""The page Make: progress, candidates and results."""
