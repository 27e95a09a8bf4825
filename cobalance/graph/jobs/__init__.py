"""Generation jobs in the graph: life cycle, rounds, candidates, progress and the merged result."""
