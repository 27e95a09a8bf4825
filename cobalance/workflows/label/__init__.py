"""Annotation runs: ordered, executed by workers, accepted or rejected."""
