"""Image files and vision models: finding, decoding, masks, loading weights, stored output."""
