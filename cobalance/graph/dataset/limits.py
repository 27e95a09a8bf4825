"""How much the graph keeps of a dataset unless told otherwise."""

MAX_CLIQUES = 1_000_000
"""The limit on cliques."""

PER_CLASS = 12
"""Images of a sample for each clique and class."""
