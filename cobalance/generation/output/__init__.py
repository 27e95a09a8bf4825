"""Generated images on disk: the output folder, the manifest and the provenance of each image."""
