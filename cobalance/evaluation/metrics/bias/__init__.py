"""Bias metrics: amplification, rankings and embeddings."""
