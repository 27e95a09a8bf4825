"""Shared code of the diffusers backends: pipelines, batches and prompt embeddings."""
