"""Exact counting of concept cliques: incidence matrix, co-occurrence, joint counts per class."""
