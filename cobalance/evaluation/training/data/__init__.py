"""Training, validation and test images: read, put together, held out, and kept apart."""
