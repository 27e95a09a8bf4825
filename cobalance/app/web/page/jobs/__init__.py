"""The page Jobs: progress, candidates and results."""
