"""Image files and vision models: finding, decoding, masks, loading weights, stored output."""

PUBLIC = (
    "images",
    "models",
    "stored",
    "stored.output_folder",
)
"""Modules that other rooms may import; a test compares them with the imports."""
