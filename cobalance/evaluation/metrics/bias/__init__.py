"""Metrics of bias: amplification, leakage, rankings and embeddings."""
