"""Array types of pixels and masks, and a mask's bounding box."""

import hashlib
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

ImageArray = npt.NDArray[np.uint8]
"""Pixels of shape (height, width, 3): red, green, blue."""
MaskArray = npt.NDArray[np.bool_]
"""Of shape (height, width): whether a pixel is the object's."""


def sha256_of(image: ImageArray) -> str:
    """SHA-256 of an image's shape and pixels."""
    return hashlib.sha256(repr(image.shape).encode() + image.tobytes()).hexdigest()


class PixelBox(NamedTuple):
    """A pixel rectangle; bottom and right are exclusive."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """Slices of the rows and columns."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.bottom - self.top, self.right - self.left


def find_box(mask: MaskArray, margin_px: int = 0) -> PixelBox:
    """Bounding box of a mask with an object, with a margin clipped to the image.

    Examples
    --------
    >>> mask = np.zeros((5, 6), bool)
    >>> mask[2, 1:4] = True
    >>> find_box(mask, margin_px=1)
    PixelBox(top=1, left=0, bottom=4, right=5)
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return PixelBox(
        top=max(0, int(rows[0]) - margin_px),
        left=max(0, int(columns[0]) - margin_px),
        bottom=min(mask.shape[0], int(rows[-1]) + 1 + margin_px),
        right=min(mask.shape[1], int(columns[-1]) + 1 + margin_px),
    )
