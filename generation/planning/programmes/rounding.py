"""Whole images from a relaxed programme's fractions."""

import numpy as np

from generation.planning.budget import share_budget
from generation.planning.programmes.programme import Programme
from generation.planning.programmes.tolerance import Caps
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


def round_near(programme: Programme, wanted: FloatArray, sizes: FloatArray) -> IntArray:
    """Whole images near fractions such that gaps are within the tolerance to the nearest image.

    From the largest cliques down each fraction goes to the side that leaves the counts of its
    subsets closer to theirs, unless its own count allows one side alone. Then images are taken
    away, or added to single smallest cliques, until classes have their sizes.

    Parameters
    ----------
    wanted : float array, shape (n_cliques, n_classes)
    sizes : float array, shape (n_classes,)
        Of the classes, with the images.
    """
    cliques, tolerance, covers = programme.cliques, programme.tolerance, programme.covers.tocsc()
    exact = cliques.counts + covers @ wanted
    top = (exact / sizes).max(axis=1, keepdims=True) * sizes
    top[tolerance.weights == 0] = np.inf
    low = np.ceil((1 - tolerance.share)[:, None] * top - 1 + 1e-6)
    low[tolerance.weights == 0], high = 0, np.floor(top + 1e-6)
    subsets = np.split(covers.indices, covers.indptr[1:-1])
    order = np.lexsort((np.arange(len(cliques)), -cliques.sizes()))
    images, error = np.zeros(wanted.shape, dtype=np.int64), np.zeros(wanted.shape)
    for row in order:
        below = subsets[row][subsets[row] != row]
        near = np.maximum(wanted[row] - error[row], 0)
        count = exact[row] + error[row] - wanted[row]
        down, up = np.floor(near + 1e-6), np.ceil(near - 1e-6)
        by_down, by_up = (abs(error[below] + one - wanted[row]).sum(axis=0) for one in (down, up))
        rises = (by_up < by_down) if len(below) else near - down > 0.5
        rises = (rises | (count + down < low[row])) & (count + up <= high[row])
        images[row] = np.where(rises, up, down)
        error[subsets[row]] += images[row] - wanted[row]
    after, missing = programme.after(images), sizes - cliques.class_sizes - images.sum(axis=0)
    smallest = cliques.sizes().min()
    for row in order:
        these = subsets[row]
        spare = np.minimum((after[these] - low[these]).min(axis=0), images[row])
        room = (high[these] - after[these]).min(axis=0) * (cliques.sizes()[row] == smallest)
        change = np.clip(missing, -np.maximum(spare, 0), np.maximum(room, 0)).astype(np.int64)
        images[row] += change
        after[these] += change
        missing = missing - change
    return images


def cut(images: IntArray, caps: Caps) -> IntArray:
    """Cut queries down to the cap of each, then in proportion to those of classes, and in all."""
    less = images if caps.query is None else np.minimum(images, caps.query)
    if caps.per_class is not None:
        less = np.stack([share_budget(column, caps.per_class) for column in less.T], axis=1)
    return less if caps.budget is None else share_budget(less, caps.budget)


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
