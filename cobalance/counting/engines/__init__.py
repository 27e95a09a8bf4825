"""Counting engines of `counting.cliques.mine_cliques`, and the choice among them."""
