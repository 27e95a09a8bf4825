"""The images of an export: their files, names, regions and masks."""
