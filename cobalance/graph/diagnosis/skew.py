"""Skew of concepts and cliques between two sides of classes, from -1 to +1."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cobalance.graph.arrays import FloatArray


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
        Class codes of the two sides. The rate of a side is its images with
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
