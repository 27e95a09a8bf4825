"""Bias metrics: leakage, amplification, rankings and embeddings."""
