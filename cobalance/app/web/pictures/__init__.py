"""Pictures for pages: thumbnails of image files, with regions drawn on them, cached on disk."""

from cobalance.app.web.pictures.thumbnails import GalleryImage, ImageFiles, Picture

__all__ = ["GalleryImage", "ImageFiles", "Picture"]
