"""Why an image file cannot be shown."""

from graph.errors import CobalanceError


class PictureError(CobalanceError):
    """An image file that cannot be shown; the message says why, as a sentence or two."""
