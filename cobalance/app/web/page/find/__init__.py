"""Page Find: an embedding map, similar images, near duplicates, and tags."""
