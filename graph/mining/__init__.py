"""The two implementations behind `graph.cliques.mine_cliques`: `expansion`, `projection`."""
