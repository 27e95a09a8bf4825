"""Encode images in a bounded size, for whoever gets them over a network."""

from io import BytesIO

import numpy as np

from cobalance.ingest.images.arrays import ImageArray

MAX_SIDE_PX = 1024
"""Longest side of an image that is sent; models that look at images see no more by default."""


def within(image: ImageArray, max_side_px: int = MAX_SIDE_PX) -> ImageArray:
    """An image scaled down to a longest side, in its proportions; a smaller one as it is.

    Examples
    --------
    >>> within(np.zeros((30, 4000, 3), np.uint8)).shape
    (8, 1024, 3)
    """
    from PIL import Image

    if max(image.shape[:2]) <= max_side_px:
        return image
    small = Image.fromarray(image)
    small.thumbnail((max_side_px, max_side_px), Image.Resampling.LANCZOS)
    return np.asarray(small)


def png(image: ImageArray) -> bytes:
    """The pixels as a PNG file, within `MAX_SIDE_PX`; nothing else of the image's file is in it."""
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(within(image)).save(buffer, "PNG")
    return buffer.getvalue()
