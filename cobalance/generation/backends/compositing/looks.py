"""Repaint an object with the look of a class, within its outline."""

import numpy as np
import numpy.typing as npt

from cobalance.generation.backends.compositing.cutout import find_box
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.styles import SHAPES, Style, paint_pattern
from cobalance.ingest.images.arrays import ImageArray, MaskArray

_TONES = (0.7, 1.2)  # how bright a look is, from one seed to another


def paint_look(
    image: ImageArray, mask: MaskArray, style: Style, share: float, draws: Draws
) -> ImageArray:
    """Repaint an object in a style's colours and pattern; its light and shade stay.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        The image with the object.
    mask : bool array, shape (height, width)
        The object's pixels, at least one. No other changes.
    style : Style
        From `cobalance.generation.backends.compositing.styles.style_of`.
    share : float
        How much of the style shows, from 0 to 1; the rest is the object's own colours.
    draws : Draws
        Gives the tone, and the pattern's offset and unevenness.

    Returns
    -------
    uint8 array, shape (height, width, 3)

    Examples
    --------
    >>> from cobalance.generation.backends.compositing.styles import style_of
    >>> image, mask = np.full((4, 6, 3), 200, np.uint8), np.zeros((4, 6), bool)
    >>> mask[1:3, 2:4] = True
    >>> painted = paint_look(image, mask, style_of("woman"), 0.9, Draws(7))
    >>> np.array_equal((painted != image).any(axis=2), mask)
    True
    """
    window = find_box(mask).slices
    inside, own = mask[window], image[window]
    tone = _TONES[0] + (_TONES[1] - _TONES[0]) * draws.uniform()
    pattern = paint_pattern(style, (inside.shape[0], inside.shape[1]), draws)
    look = np.clip(pattern * (tone * _light(own))[..., np.newaxis], 0, 255)
    mixed = np.rint(look * share + own * (1 - share)).astype(np.uint8)
    painted = image.copy()
    painted[window][inside] = mixed[inside]
    return painted


def _light(image: ImageArray) -> npt.NDArray[np.float64]:
    """Factor for each pixel's light, from 0.6 for black to 1.2 for white."""
    light: npt.NDArray[np.float64] = 0.6 + 0.6 * image.sum(axis=2, dtype=np.int64) / 765
    return light


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
