"""The worker: executes chunks with backend, filters and sources, and advances jobs."""
