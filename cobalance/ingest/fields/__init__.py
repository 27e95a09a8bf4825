"""The step from metadata to concepts, classes, splits and clusters."""
