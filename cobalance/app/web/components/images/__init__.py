"""Images in grids, with a lightbox, tags and decisions."""
