"""Whole images from a relaxed programme's fractions."""

import numpy as np

from cobalance.base import FloatArray, IntArray
from cobalance.generation.planning.programmes.programme import Programme
from cobalance.generation.planning.programmes.tolerance import ROUNDING, Caps


def round_down(images: FloatArray) -> IntArray:
    """Whole images, none more than the fractions."""
    return np.floor(np.maximum(images, 0) + ROUNDING).astype(np.int64)


def raise_to_tolerance(programme: Programme, images: IntArray, above: int = 0) -> IntArray:
    """Raise images until every gap is within the tolerance, from the largest cliques down.

    Images of a size count in no clique of that size but their own, and in no larger one, so that
    one pass is enough. Caps are not looked at, nor cliques of at most `above` concepts.
    """
    sizes = programme.cliques.sizes()
    for size in sorted(set(sizes[sizes > above].tolist()), reverse=True):
        images = raise_size(programme, images, size)
    return images


def raise_size(programme: Programme, images: IntArray, size: int) -> IntArray:
    """Raise images of the cliques of one size until their gaps are within the tolerance."""
    rows = np.flatnonzero(programme.cliques.sizes() == size)
    after = programme.counts_after(images)[rows]
    lowest = programme.tolerance.take(rows).lowest_counts(after * programme.scale)
    missing = np.ceil(lowest / programme.scale - ROUNDING).astype(np.int64) - after
    filled = images.copy()
    filled[rows] += np.clip(missing, 0, None)
    return filled


def round_near(programme: Programme, wanted: FloatArray, sizes: FloatArray) -> IntArray:
    """Whole images such that counts are near those with fractions, and classes have their sizes.

    From the largest cliques down each gets what brings its counts nearest. Images of the smallest
    cliques, within the tolerance, then make up for what classes lack or have too many.

    Parameters
    ----------
    wanted : float array, shape (n_cliques, n_classes)
        Images, with fractions.
    sizes : float array, shape (n_classes,)
        Of the classes, with the images.
    """
    cliques, clique_sizes = programme.cliques, programme.cliques.sizes()
    exact, images = cliques.counts + programme.covers @ wanted, np.zeros_like(cliques.counts)
    for size in sorted(set(clique_sizes.tolist()), reverse=True):
        lacking = np.rint(np.maximum(exact - programme.counts_after(images), 0)).astype(np.int64)
        images[clique_sizes == size] = lacking[clique_sizes == size]

    # The counts that each smallest clique may have, by the largest rate of its classes.
    rows = np.flatnonzero(clique_sizes == clique_sizes.min())
    after, tolerance = programme.counts_after(images)[rows], programme.tolerance.take(rows)
    highest = (np.maximum(exact[rows], after) / sizes).max(axis=1, keepdims=True) * sizes
    lowest = np.ceil((1 - tolerance.share)[:, None] * highest - 1 + ROUNDING)
    highest[tolerance.weights == 0], lowest[tolerance.weights == 0] = np.inf, 0
    images[rows] += np.maximum(lowest - after, 0).astype(np.int64)
    after = np.maximum(lowest, after)

    # Each class takes what it lacks, or drops what it has too many, clique by clique.
    missing = sizes - cliques.class_sizes - images.sum(axis=0)
    spare = np.minimum(after - lowest, images[rows])
    room = np.where(missing > 0, np.floor(highest - after + ROUNDING), spare)
    room = np.minimum(room, abs(missing))
    room_before = np.cumsum(room, axis=0) - room
    change = np.clip(abs(missing) - room_before, 0, room)
    images[rows] += (np.sign(missing) * change).astype(np.int64)
    return images


def apply_caps(images: IntArray, caps: Caps) -> IntArray:
    """Apply the caps of queries, then of classes and of all images in proportion."""
    capped = images if caps.query is None else np.minimum(images, caps.query)
    if caps.per_class is not None:
        by_class = [share_budget(column, caps.per_class) for column in capped.T]
        capped = np.stack(by_class, axis=1)
    if caps.budget is None:
        return capped
    return share_budget(capped, caps.budget)


def share_budget(images: IntArray, budget: int) -> IntArray:
    """Scale all queries down in proportion so that their sum is a cap.

    Whole images are given by the largest remainder method (Hamilton's): each query gets its share
    rounded down, and what is left goes one by one to the queries that were cut most by it.

    Parameters
    ----------
    images : int array, any shape
        Images wanted, none below 0.
    budget : int
        Images in all, 0 or more.

    Returns
    -------
    int64 array, the same shape
        At most what was wanted; the sum is `budget`, or that of `images` where it is smaller.

    Notes
    -----
    Among equal remainders, the query that asks for more goes first, then the earlier one in the
    array, so that the result depends on nothing else. O(n log n).
    """
    wanted = np.asarray(images, dtype=np.int64)
    total = int(wanted.sum())
    if total <= budget:
        return wanted.copy()

    # Python's integers never overflow.
    scaled = wanted.ravel().astype(object) * budget
    shares, remainders = (scaled // total).astype(np.int64), (scaled % total).astype(np.int64)
    order = np.lexsort((-wanted.ravel(), -remainders))
    shares[order[: budget - int(shares.sum())]] += 1
    return shares.reshape(wanted.shape)


def round_up_within(programme: Programme, images: IntArray, wanted: FloatArray) -> IntArray:
    """Round fractions up, the largest first, while the budget, and caps of classes, have room.

    Ties go by position. Caps on overshoot are not looked at.
    """
    images, caps = images.copy(), programme.caps
    rest = wanted - images
    remaining = np.inf if caps.budget is None else caps.budget - int(images.sum())
    room = np.full(images.shape[1], np.inf if caps.per_class is None else float(caps.per_class))
    room -= images.sum(axis=0)

    for place in np.argsort(-rest, axis=None, kind="stable"):
        row, code = divmod(int(place), images.shape[1])
        if remaining < 1 or rest[row, code] <= ROUNDING:
            break
        if room[code] >= 1:
            images[row, code] += 1
            room[code] -= 1
            remaining -= 1
    return images
