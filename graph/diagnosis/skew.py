"""Skew of concepts and cliques between two sides of classes, from -1 to +1."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from graph.arrays import FloatArray
from graph.errors import OptionError, check_known


def class_axis(
    classes: Sequence[str], left: str | None = None, right: str | None = None
) -> tuple[list[int], list[int]]:
    """Return the class codes at the left and at the right end of a skew axis.

    Two classes stand at one end each. Of more, the axis compares a pair, or one class with all
    others together.

    Parameters
    ----------
    classes : sequence of str
        All classes, by code.
    left : str or None
        The class on the left; the first by default.
    right : str or None
        The class on the right; all but the left one by default.

    Raises
    ------
    UnknownNameError
        No such class.
    OptionError
        Both ends are the same class.

    Examples
    --------
    >>> class_axis(["country", "urban"])
    ([0], [1])
    >>> class_axis(["bird", "cat", "dog"], left="cat")
    ([1], [0, 2])
    >>> class_axis(["bird", "cat", "dog"], right="cat")
    ([0], [1])
    """
    code_of = {name: code for code, name in enumerate(classes)}
    check_known("class", [name for name in (left, right) if name is not None], classes)
    if left is not None and left == right:
        raise OptionError(f"Both ends of the axis are {left!r}. Compare it with another class.")
    if left is None:
        left = next((name for name in classes if name != right), None)
    left_codes = [] if left is None else [code_of[left]]
    if right is not None:
        return left_codes, [code_of[right]]
    return left_codes, [code for code in range(len(classes)) if code not in left_codes]


def skew(
    counts: npt.ArrayLike, class_sizes: npt.ArrayLike, left: Sequence[int], right: Sequence[int]
) -> FloatArray:
    """Return the skew of concepts or cliques, (r - l) / (r + l), from the rates on either side.

    Parameters
    ----------
    counts : array, shape (n, n_classes)
        Images of each class with the concept or clique. NaN stands for not counted.
    class_sizes : array, shape (n_classes,)
        All images of each class.
    left, right : sequences of int
        Class codes of the two sides, as from `class_axis`. The rate of a side is its images with
        the concept, divided by all its images.

    Returns
    -------
    float64 array, shape (n,)
        -1 where only the left side has it, +1 where only the right side has, 0 where the rates
        are equal, where neither has any, and where a side has no images to compare. NaN where
        the counts are.

    Examples
    --------
    >>> skew([[30, 10], [0, 5], [0, 0]], [100, 100], [0], [1])
    array([-0.5,  1. ,  0. ])
    """
    found = np.asarray(counts, dtype=np.float64).reshape(-1, np.size(class_sizes))
    sizes = np.asarray(class_sizes, dtype=np.float64)
    sides = [list(left), list(right)]
    images = [sizes[side].sum() for side in sides]
    low, high = (
        found[:, side].sum(axis=1) / (total or 1.0)
        for side, total in zip(sides, images, strict=True)
    )
    if not all(images):
        return np.where(np.isnan(low + high), np.nan, 0.0)
    both = low + high
    return np.asarray((high - low) / np.where(both == 0, 1.0, both))
