"""Describe an export: data card, Croissant metadata and the image table."""
