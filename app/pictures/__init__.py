"""Image files as pictures for pages: found inside the configured roots, scaled, drawn on, kept."""

from app.pictures.thumbnails import GalleryImage, ImageFiles, Picture

__all__ = ["GalleryImage", "ImageFiles", "Picture"]
