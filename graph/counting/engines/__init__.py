"""The counting engines behind `graph.counting.cliques.mine_cliques`, which chooses one."""
