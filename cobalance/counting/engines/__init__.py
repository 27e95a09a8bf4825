"""Counting engines of `graph.counting.cliques.mine_cliques`, and the choice among them."""
