"""Base of backends that have a server make their images: limits, retries and a budget."""
