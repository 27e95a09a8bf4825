"""Captions of images: how they are stored beside the graph, read from files, and edited."""
