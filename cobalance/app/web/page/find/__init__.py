"""View Similar of Diagnose: an embedding map, similar images, near duplicates, and tags."""
