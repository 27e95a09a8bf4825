"""Components that JavaScript draws: concept graph, image grids, Cypher editor."""
