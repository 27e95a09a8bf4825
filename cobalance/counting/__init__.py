"""Exact counting of concept cliques: incidence matrix, co-occurrence, joint counts per class."""

PUBLIC = (
    "changes",
    "cliques",
    "clusters",
    "cooccurrence",
    "incidence",
    "mining_options",
    "one_against_rest",
    "sample",
    "subsets",
)
"""Modules that other rooms may import; a test compares them with the imports."""
