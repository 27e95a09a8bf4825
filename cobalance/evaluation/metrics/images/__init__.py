"""Metrics of images: distances of generated ones from real ones, captions in clusters, CAMs."""
