"""Embeddings of a dataset's images: computed by workers, kept, and searched."""
