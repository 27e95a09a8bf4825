"""Attributes that models propose and label, and how far their labels can be trusted."""
