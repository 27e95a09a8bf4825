"""Image files: where they are, how they are decoded within limits, and their boxes and masks."""
