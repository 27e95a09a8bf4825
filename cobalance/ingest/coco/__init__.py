"""COCO files: typed records and images as columns."""
