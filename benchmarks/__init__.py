"""Measurements behind every figure in the documentation; `make bench` runs them all."""
