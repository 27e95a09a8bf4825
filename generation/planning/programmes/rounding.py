"""Whole images from a relaxed programme's fractions."""

import numpy as np

from generation.planning.programmes.programme import Programme
from graph.arrays import FloatArray, IntArray


def fill(programme: Programme, images: IntArray) -> IntArray:
    """Raise images until every gap is within the tolerance, from the largest cliques down.

    Images of a size count in no clique of that size but their own, and in no larger one, so that
    one pass is enough. Caps are not looked at.
    """
    images = images.copy()
    sizes = programme.cliques.sizes()
    after = programme.after(images)
    for size in sorted(set(sizes.tolist()), reverse=True):
        rows = np.flatnonzero(sizes == size)
        part = after[rows] * programme.scale
        lowest = programme.tolerance.take(rows).lowest_counts(part) / programme.scale
        missing = np.clip(np.ceil(lowest - 1e-6).astype(np.int64) - after[rows], 0, None)
        if missing.any():
            images[rows] += missing
            after = programme.after(images)
    return images


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
