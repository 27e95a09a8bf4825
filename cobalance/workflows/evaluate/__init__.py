"""Evaluations: ordered, run by workers, scored, compared and exported."""
