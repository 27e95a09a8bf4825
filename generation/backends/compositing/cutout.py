"""Cut objects out of images and paste them onto others."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from generation.backends.compositing.framing import Size, resize_image, resize_mask
from ingest.images.arrays import ImageArray, MaskArray

if TYPE_CHECKING:
    from PIL import Image

SCALES = (0.7, 1.3)
"""Range of a placed object's scale relative to its source; reduced where it would not fit."""


@dataclass(frozen=True)
class Box:
    """A pixel rectangle; bottom and right are exclusive."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """Slices of the rows and columns."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


def find_box(mask: MaskArray, margin_px: int = 0) -> Box:
    """Bounding box of a mask, with a margin clipped to the image.

    Examples
    --------
    >>> mask = np.zeros((5, 6), bool)
    >>> mask[2, 1:4] = True
    >>> find_box(mask, margin_px=1)
    Box(top=1, left=0, bottom=4, right=5)
    """
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return Box(
        max(0, int(rows[0]) - margin_px),
        max(0, int(columns[0]) - margin_px),
        min(mask.shape[0], int(rows[-1]) + 1 + margin_px),
        min(mask.shape[1], int(columns[-1]) + 1 + margin_px),
    )


def paste_object(
    background: ImageArray, image: ImageArray, mask: MaskArray, feather_px: float
) -> ImageArray:
    """Paste the object onto the background with a feathered edge.

    Beside the object, the colour of its nearest pixel fades into the background. What stood beside
    it in its own image is what a plan wants to change, so nothing of that is shown.

    Parameters
    ----------
    background, image : uint8 array, shape (height, width, 3)
        What to paste onto, and the image with the object.
    mask : bool array, shape (height, width)
        The object's pixels. They are the image's in the result, bit by bit.
    feather_px : float
        How far the edge fades: at a distance of d pixels from the object its share is
        ``1 - d / (feather_px + 1)``.

    Returns
    -------
    uint8 array, shape (height, width, 3)
    """
    pasted = background.copy()
    window = find_box(mask, math.ceil(feather_px) + 1).slices
    inside = mask[window]
    colours, distance_px = spread_colours(image[window], inside)
    share = np.clip(1 - distance_px / (feather_px + 1), 0, 1)[..., np.newaxis]
    mixed = colours * share + background[window] * (1 - share)
    pasted[window] = np.where(inside[..., np.newaxis], image[window], np.rint(mixed))
    return pasted


def spread_colours(
    image: ImageArray, mask: MaskArray
) -> tuple[ImageArray, npt.NDArray[np.float64]]:
    """Fill each pixel with the colour of the nearest object pixel; return the distances, too."""
    distance_px, nearest = ndimage.distance_transform_edt(~mask, return_indices=True)
    return image[nearest[0], nearest[1]], distance_px


def place_object(
    image: ImageArray, mask: MaskArray, size: Size, rng: np.random.Generator
) -> tuple[ImageArray, MaskArray, float]:
    """Place the object on an empty image at a random position and scale.

    The scale is drawn from `SCALES`, or what of it lets the whole object in; then the place, from
    all where it is in the image as a whole. The object is resampled by Lanczos' filter, with its
    own colours beyond its edge.

    Parameters
    ----------
    image, mask : arrays, shapes (height, width, 3) and (height, width)
        Where the object is; of any size.
    size : tuple of int
        Height and width of the result.
    rng : numpy.random.Generator
        Gives one number for the scale, one for the row and one for the column.

    Returns
    -------
    image : uint8 array, shape (height, width, 3)
        Black but for the object's box.
    mask : bool array, shape (height, width)
        The object's pixels.
    scale : float
        Its size beside that in `image`.
    """
    window = find_box(mask).slices
    inside = mask[window]
    colours, _ = spread_colours(image[window], inside)
    tall, wide = inside.shape
    largest = min(SCALES[1], size[0] / tall, size[1] / wide)
    smallest = min(SCALES[0], largest)
    scale = smallest + (largest - smallest) * rng.random()
    target = (
        min(size[0], max(1, round(tall * scale))),
        min(size[1], max(1, round(wide * scale))),
    )
    top = int(rng.integers(size[0] - target[0], endpoint=True))
    left = int(rng.integers(size[1] - target[1], endpoint=True))
    placed, placed_mask = np.zeros((*size, 3), np.uint8), np.zeros(size, np.bool_)
    there = slice(top, top + target[0]), slice(left, left + target[1])
    placed[there] = resize_image(colours, target)
    placed_mask[there] = resize_mask(inside, target)
    return placed, placed_mask, scale


def to_image(pixels: npt.NDArray[np.float32]) -> ImageArray:
    """Convert pixels from 0..1 to 8 bits."""
    return np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def to_pillow(pixels: ImageArray | MaskArray) -> "Image.Image":
    """Convert an array to a Pillow image; True pixels of a mask are white."""
    from PIL import Image

    if pixels.dtype == np.bool_:
        return Image.fromarray(pixels.astype(np.uint8) * 255)
    return Image.fromarray(pixels)
