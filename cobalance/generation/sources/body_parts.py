"""Restrict an object's mask to parts of it, and let it grow."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from scipy import ndimage

from cobalance.generation.sources.mask_settings import UnusableError
from cobalance.ingest.images.arrays import ImageArray, MaskArray

FindParts = Callable[[ImageArray], Mapping[str, MaskArray]]
"""Finds parts in an image by name, such as skin or hair, whosever they are; masks may be empty."""


def restrict(
    mask: MaskArray, parts: Mapping[str, MaskArray], which: Literal["all", "random"], seed: int
) -> MaskArray:
    """Intersect an object's mask with parts that were found in its image.

    Parameters
    ----------
    mask : bool array, shape (height, width)
        The object's.
    parts : mapping of str to bool array of the same shape
        The parts, by name.
    which : {"all", "random"}
        All of them as one, or one of those that the object shows, drawn by the seed.
    seed : int
        Decides which one; the same on every machine.

    Raises
    ------
    UnusableError
        The object shows none of them.

    Examples
    --------
    >>> parts = {"hair": np.array([[1, 1, 0]], bool), "face": np.array([[0, 0, 1]], bool)}
    >>> restrict(np.array([[0, 1, 1]], bool), parts, "all", 0).tolist()
    [[False, True, True]]
    >>> restrict(np.array([[1, 1, 0]], bool), parts, "random", 7).tolist()
    [[True, True, False]]
    """
    shown = {name: mask & part for name, part in sorted(parts.items())}
    shown = {name: part for name, part in shown.items() if part.any()}
    if not shown:
        raise UnusableError(
            "shows none of the wanted parts of its object",
            "Take other images, or other parts in the setting parts_options",
            f"wanted {', '.join(parts)}",
        )
    if which == "random":
        digest = hashlib.sha256(f"{seed}/part".encode()).digest()
        return list(shown.values())[int.from_bytes(digest[:16]) % len(shown)]
    every: MaskArray = np.logical_or.reduce(list(shown.values()))
    return every


def grow(mask: MaskArray, times: int) -> MaskArray:
    """Dilate a mask by a square of 3 × 3 pixels, so many times.

    Examples
    --------
    >>> mask = np.zeros((3, 5), bool)
    >>> mask[0, 1] = True
    >>> grow(mask, 1).astype(int).tolist()
    [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    """
    if times == 0:  # for scipy: until nothing changes
        return mask
    grown: MaskArray = ndimage.binary_dilation(mask, np.ones((3, 3), bool), iterations=times)
    return grown
