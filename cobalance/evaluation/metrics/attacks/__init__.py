"""Leakage and LIC: attackers that guess groups from labels and captions."""
