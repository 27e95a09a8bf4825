"""Mistakes planted in painted objects, so that it matters which candidate is chosen."""

import numpy as np

from cobalance.generation.backends.compositing.cutout import find_box
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.styles import SHAPES
from cobalance.ingest.images.arrays import ImageArray, MaskArray

OBJECT_ADDED, COLOURS_SHIFTED = "object added", "colours shifted"

_SIGN_SHARE = 0.6  # of an added object, of the longer side of the one that it is upon


def plant_mistake(
    painted: ImageArray, source: ImageArray, mask: MaskArray, draws: Draws
) -> tuple[ImageArray, str]:
    """Make a mistake that a model might make: add something, or shift the colours.

    Either takes colours that are far from the source's: each channel of a shifted pixel is halfway
    from there to the farther end, and what is added has the farther end for each channel.

    Parameters
    ----------
    painted, source : uint8 arrays, shape (height, width, 3)
        The image with the object painted, and the one that it was painted from.
    mask : bool array, shape (height, width)
        The object's pixels, at least one. No other changes.
    draws : Draws
        Decides which mistake it is, and where.

    Returns
    -------
    image : uint8 array, shape (height, width, 3)
    mistake : str
        `OBJECT_ADDED` or `COLOURS_SHIFTED`.
    """
    mistake = draws.choice((OBJECT_ADDED, COLOURS_SHIFTED))
    far = np.where(source < 128, 255, 0)
    image = painted.copy()
    if mistake == COLOURS_SHIFTED:
        image[mask] = ((painted.astype(np.int64) + far) // 2).astype(np.uint8)[mask]
        return image, mistake
    box = find_box(mask)
    reach = max(1.0, max(box.bottom - box.top, box.right - box.left) * _SIGN_SHARE / 2)
    inside = np.argwhere(mask)
    top, left = inside[draws.below(len(inside))].tolist()
    rows, columns = np.indices(mask.shape)
    shape = SHAPES[draws.choice(sorted(SHAPES))]
    added = mask & shape((columns - left) / reach, (rows - top) / reach)
    image[added] = far[added]
    return image, mistake
