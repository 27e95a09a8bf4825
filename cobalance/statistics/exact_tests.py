"""Exact tests of one rate in all classes, for cliques of few images.

Given a clique's images in all classes together, its images of each class are (multivariate)
hypergeometric where the rate is the same. The p-value is the probability of all tables no more
probable than the observed one: Fisher's exact test, two-sided, for two classes, and that of Freeman
and Halton (Biometrika 1951) for more.

With more classes tables are listed where they are few. Where they are many, their distribution is
built class by class on a grid of the logarithm of their probability: tables within a few `STEP` of
each other may count as equally probable, and all else is exact, far into the tail; after Pagano and
Halvorsen (Journal of the American Statistical Association 1981). Cliques that are too frequent for
that, which are of uneven classes, are tested in each class against all others, with Bonferroni's
correction.
"""

from math import comb, prod

import numpy as np

from cobalance.base.arrays import BoolArray, FloatArray, IntArray
from cobalance.base.libraries import stats

SAME_PROBABILITY = 1 + 1e-7  # tables of equal probability differ by rounding; R's fisher.test too
MOST_TABLES = 50_000  # of one total, to be listed
MOST_IMAGES, MOST_CELLS = 400, 3_000  # of a clique, and times classes, for the grid
STEP, DEPTH = 0.02, 60.0  # of the grid, in natural logarithms; what is deeper is alike


def fisher(counts: IntArray, class_sizes: IntArray) -> FloatArray:
    """Return two-sided Fisher p-values of cliques in two classes.

    Tables with the same total share one distribution, which is evaluated once.

    Examples
    --------
    >>> fisher(np.array([[3, 0]]), np.array([99, 99])).round(3)
    array([0.246])
    """
    totals = counts.sum(axis=1)
    p_values = np.empty(len(counts))
    for rows in _by_value(totals):
        total = totals[rows[0]]
        first = max(0, total - class_sizes[1])
        possible = np.arange(first, min(total, class_sizes[0]) + 1)
        # pmf itself factorizes up to 100,000 images into primes: 0.2 ms a value, not 0.5 us
        weights = stats.hypergeom.logpmf(possible, class_sizes.sum(), class_sizes[0], total)
        p_values[rows] = _tail(weights, weights[counts[rows, 0] - first])
    return p_values


def fisher_many(counts: IntArray, class_sizes: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return exact p-values of cliques in three or more classes with images.

    Returns
    -------
    p_values : float64 array, shape (n_cliques,)
    each : bool array, shape (n_cliques,)
        Where each class was tested against all others.

    Examples
    --------
    >>> fisher_many(np.array([[3, 0, 0]]), np.array([9, 9, 9]))[0].round(4)  # 3 x 84 of 2925 tables
    array([0.0862])
    """
    order = np.argsort(class_sizes, kind="stable")  # the largest class takes the rest
    sizes = class_sizes[order]
    n_images, n_classes = int(sizes.sum()), len(sizes)
    many = counts.sum(axis=1) * 2 > n_images  # images without the clique are fewer
    held = np.where(many[:, None], class_sizes - counts, counts)[:, order]
    totals = held.sum(axis=1)
    p_values, each = np.empty(len(counts)), np.zeros(len(counts), dtype=np.bool_)
    gridded: dict[int, list[IntArray]] = {}
    for rows in _by_value(totals):
        total = int(totals[rows[0]])
        fits = prod(min(size, total) + 1 for size in sizes[:-1].tolist())
        if min(fits, comb(total + n_classes - 1, n_classes - 1)) <= MOST_TABLES:
            p_values[rows] = _list_tables(held[rows], sizes, total)
        elif total <= MOST_IMAGES and total * n_classes <= MOST_CELLS:
            gridded.setdefault(total.bit_length(), []).append(rows)
        else:
            each[rows] = True
    for groups in gridded.values():
        rows = np.concatenate(groups)
        p_values[rows] = _on_grid(held[rows], sizes)
    if each.any():
        of_class = [
            fisher(np.stack([one, totals[each] - one], axis=1), np.array([size, n_images - size]))
            for one, size in zip(held[each].T, sizes.tolist(), strict=True)
        ]
        p_values[each] = np.minimum(1.0, n_classes * np.min(of_class, axis=0))
    return p_values, each


def _by_value(values: IntArray) -> list[IntArray]:
    """The positions of each value."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(values) else []


def _tail(weights: FloatArray, observed: FloatArray) -> FloatArray:
    """The share of tables no more probable than some, from logarithms of probabilities."""
    ascending = np.sort(weights)
    shares = np.cumsum(np.exp(ascending - ascending[-1]))
    ends = np.searchsorted(ascending, observed + np.log(SAME_PROBABILITY), side="right")
    found: FloatArray = np.minimum(shares[ends - 1] / shares[-1], 1.0)
    return found


def _ways(size: int, most: int) -> FloatArray:
    """Logarithms of the ways to choose 0, 1, ... images of a class."""
    chosen = np.arange(min(size, most))
    return np.append(0.0, np.cumsum(np.log((size - chosen) / (chosen + 1))))


def _list_tables(counts: IntArray, sizes: IntArray, total: int) -> FloatArray:
    """p-values of cliques of the same total."""
    ways = [_ways(size, total) for size in sizes.tolist()]
    left, weights = np.array([total]), np.zeros(1)
    room = np.cumsum(sizes[::-1])[::-1]
    for code, of_class in enumerate(ways[:-1]):
        least = np.maximum(0, left - room[code + 1])
        n = np.minimum(left, sizes[code]) - least + 1
        start = np.repeat(np.cumsum(n) - n, n)
        chosen = np.arange(n.sum()) - start + np.repeat(least, n)
        left, weights = np.repeat(left, n) - chosen, np.repeat(weights, n) + of_class[chosen]
    weights += ways[-1][left]
    observed = np.sum([of[x] for of, x in zip(ways, counts.T, strict=True)], axis=0)
    return _tail(weights, observed)


def _on_grid(counts: IntArray, sizes: IntArray) -> FloatArray:
    """p-values of cliques of similar totals."""
    totals = counts.sum(axis=1)
    most, bins = int(totals.max()), int(DEPTH / STEP) + 1
    rate = np.sqrt(float(totals.min()) * most) / sizes.sum()
    # Conditional on the total, any rate gives the same distribution: this one keeps it in range.
    shares = np.zeros((most + 1, bins))
    shares[0, 0] = 1.0
    observed = np.zeros(len(counts), dtype=np.int64)
    for size, held in zip(sizes.tolist(), counts.T, strict=True):
        weights = _ways(size, most)
        weights += np.arange(len(weights)) * np.log(rate / (1 - rate))
        depths = np.minimum(np.rint((weights.max() - weights) / STEP), bins - 1).astype(np.int64)
        chances = np.exp(weights - weights.max())
        chances /= chances.sum()
        sums, before = shares.sum(axis=1), shares
        shares = np.zeros_like(before)
        for images, (depth, chance) in enumerate(zip(depths.tolist(), chances, strict=True)):
            rows = most + 1 - images
            kept = bins - 1 - depth
            if kept > 0:
                shares[images:, depth:-1] += chance * before[:rows, :kept]
                shares[images:, -1] += chance * before[:rows, kept:].sum(axis=1)
            else:
                shares[images:, -1] += chance * sums[:rows]
        observed += depths[held]
    of_total = {total: np.cumsum(shares[total, ::-1])[::-1] for total in set(totals.tolist())}
    p_values = [
        of_total[total][min(depth, bins - 1)] / of_total[total][0]
        for total, depth in zip(totals.tolist(), observed.tolist(), strict=True)
    ]
    return np.array(p_values)
