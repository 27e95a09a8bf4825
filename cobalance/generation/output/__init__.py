"""Generated images on disk: their files, the manifest and the provenance of each image."""
