"""Read masks from images of any common convention."""

import numpy as np
import numpy.typing as npt

from cobalance.base import Image
from cobalance.vision.images.arrays import MaskArray

VOID = 255
"""Palette index of unlabelled pixels."""
MOST_GREYS = 16
"""A grey palette with more greys than this encodes soft edges, not class indices."""
DARK, BRIGHT = 16, 128
"""Largest channel value of a dark colour, and smallest of a bright one."""


def mask_array(image: "Image.Image") -> MaskArray:
    """Convert a mask image to booleans: True where a pixel belongs to the object.

    The object is every pixel at least half as bright as the brightest one, which covers masks of 0
    and 1, of 0 and 255, and with soft edges; an all-black image is an empty mask. Exceptions:

    - In a palette image the object is every index but 0 (background) and 255 (unlabelled, as at
      object edges in Pascal VOC); 255 is the object if it is the only index besides 0. Brightness
      is used all the same if 0 is not black but another index is, or 0 is bright and another one
      nearly black (colour reduction numbers colours in any order); if the palette is a ramp of
      more than `MOST_GREYS` greys (soft edges); or if each index is a grey of that brightness and
      most non-zero pixels are 255.
    - If all visible pixels have one colour and opacity varies, opacity serves as brightness.

    Examples
    --------
    >>> from PIL import Image
    >>> mask_array(Image.fromarray(np.array([[0, 100, 200]], dtype=np.uint8))).tolist()
    [[False, True, True]]
    """
    if image.mode == "P":
        indices = np.asarray(image)
        if not _is_grey(image, indices):
            inside: MaskArray = indices != 0
            labelled = inside & (indices != VOID)
            return labelled if labelled.any() else inside

    values = _opacity(image)
    if values is None:
        grey = image if image.mode.startswith(("I", "F")) else image.convert("L")
        values = np.asarray(grey).astype(np.float64)
    brightest = float(values.max(initial=0.0))
    # False for NaN, too.
    if not brightest > 0:
        return np.zeros(values.shape, dtype=bool)
    return values * 2 >= brightest


def _is_grey(image: "Image.Image", indices: npt.NDArray[np.uint8]) -> bool:
    """Whether the palette encodes brightness rather than class indices."""
    palette = np.asarray(image.getpalette("RGB") or [], dtype=np.uint8).reshape(-1, 3)
    counts = np.bincount(indices.ravel(), minlength=VOID + 1)
    used = np.flatnonzero(counts)
    used = used[used < len(palette)]
    colours = palette[used].astype(np.int64)
    if not len(used):
        return False

    # Index 0 is no background where another index is darker than it.
    peaks = colours.max(axis=1)
    dark = DARK if peaks[0] >= BRIGHT else 0
    if used[0] == 0 and peaks[0] > dark >= peaks.min():
        return True
    if (colours != peaks[:, None]).any():
        return False

    # Soft edges.
    steps = np.diff(peaks)
    if len(np.unique(peaks)) > MOST_GREYS and ((steps >= 0).all() or (steps <= 0).all()):
        return True
    # Each index is a grey of that brightness, and the object white.
    is_ramp = bool((peaks == used).all())
    return is_ramp and bool(counts[VOID] > counts[1:VOID].sum() > 0)


def _opacity(image: "Image.Image") -> npt.NDArray[np.float64] | None:
    """The alpha channel if it alone distinguishes pixels; else None."""
    if "A" not in image.getbands():
        return None
    layers = np.asarray(image.convert("RGBA"))
    alpha = layers[..., 3]
    visible = layers[alpha > 0][:, :3]
    if alpha.min() == alpha.max() or (visible != visible[:1]).any():
        return None
    return alpha.astype(np.float64)
