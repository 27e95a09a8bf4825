"""How much people check unless told otherwise."""

PER_STRATUM = 50
"""Images of each concept, class and verdict."""
