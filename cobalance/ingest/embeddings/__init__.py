"""Embeddings of images beside the graph: read, kept, compared and projected."""
