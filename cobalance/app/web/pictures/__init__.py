"""Pictures for pages: thumbnails of image files, with regions drawn on them, cached on disk."""
