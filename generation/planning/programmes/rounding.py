"""Whole images from a relaxed programme's fractions."""

import numpy as np

from generation.planning.programmes.programme import Programme
from graph.arrays import FloatArray, IntArray


def round_down(images: FloatArray) -> IntArray:
    """Whole images, none more than the fractions."""
    down: IntArray = np.floor(np.maximum(images, 0) + 1e-6).astype(np.int64)
    return down


def fill(programme: Programme, images: IntArray) -> IntArray:
    """Raise images until every gap is within the tolerance, from the largest cliques down.

    Images of a size count in no clique of that size but their own, and in no larger one, so that
    one pass is enough. Caps are not looked at.
    """
    for size in sorted(set(programme.cliques.sizes().tolist()), reverse=True):
        images = fill_size(programme, images, size)
    return images


def fill_size(programme: Programme, images: IntArray, size: int) -> IntArray:
    """Raise images of the cliques of one size until their gaps are within the tolerance."""
    rows = np.flatnonzero(programme.cliques.sizes() == size)
    after = programme.after(images)[rows]
    lowest = programme.tolerance.take(rows).lowest_counts(after * programme.scale)
    missing = np.ceil(lowest / programme.scale - 1e-6).astype(np.int64) - after
    filled = images.copy()
    filled[rows] += np.clip(missing, 0, None)
    return filled


def add_within(programme: Programme, images: IntArray, wanted: FloatArray) -> IntArray:
    """Round fractions up, the largest first, while the budget, and caps of classes, have room.

    Ties go by position. Caps on overshoot are not looked at.
    """
    images, caps = images.copy(), programme.caps
    rest = wanted - images
    left = np.inf if caps.budget is None else caps.budget - int(images.sum())
    room = np.full(images.shape[1], np.inf if caps.per_class is None else float(caps.per_class))
    room -= images.sum(axis=0)
    for place in np.argsort(-rest, axis=None, kind="stable"):
        row, code = divmod(int(place), images.shape[1])
        if left < 1 or rest[row, code] <= 1e-6:
            break
        if room[code] >= 1:
            images[row, code] += 1
            room[code] -= 1
            left -= 1
    return images
