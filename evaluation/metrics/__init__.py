"""Metrics of accuracy by group, bias and image quality, as pure functions without torch."""
