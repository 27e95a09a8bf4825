"""Masks of generated images as COCO has them: boxes and run lengths."""

import numpy as np

from graph.arrays import BoolArray
from graph.records import Mention
from ingest.images.decoding import decode
from ingest.images.image_file import ImageFileError
from ingest.images.masks import encode_mask


def object_of(mask_png: bytes, class_name: str, width_px: int, height_px: int) -> Mention:
    """Give the object of a generated image as a region, by its mask: a PNG that is not 0 on it.

    Raises
    ------
    ImageFileError
        It is no mask of an image of this size.
    """
    picture = decode(mask_png).stored
    if picture.size != (width_px, height_px):
        raise ImageFileError(f"The mask is {picture.size}, its image {(width_px, height_px)}.")
    pixels = np.asarray(picture.convert("L")) != 0
    if not pixels.any():
        raise ImageFileError("The mask is empty.")
    return Mention(
        class_name,
        source="mask",
        area_px2=float(pixels.sum()),
        box=mask_box(pixels),
        segmentation=encode_mask(pixels),
    )


def mask_box(pixels: BoolArray) -> tuple[float, float, float, float]:
    """Give the box around a mask's pixels: x, y, width, height; at least one must be on.

    Examples
    --------
    >>> mask_box(np.array([[False, False, False], [False, True, True]]))
    (1.0, 1.0, 2.0, 1.0)
    """
    columns, rows = np.flatnonzero(pixels.any(axis=0)), np.flatnonzero(pixels.any(axis=1))
    x, y = float(columns[0]), float(rows[0])
    return x, y, float(columns[-1]) + 1 - x, float(rows[-1]) + 1 - y
