"""What the diffusers backends share: pipelines, batches and prompt embeddings."""
