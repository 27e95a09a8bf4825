"""Source images: which image and mask a generated image starts from."""
