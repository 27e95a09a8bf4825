"""The worker: executes chunks with backend, filters and sources, and tasks; advances jobs."""
