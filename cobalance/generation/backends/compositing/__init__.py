"""Image compositing without a model: cutouts, resizing, pasting and procedural patterns."""
