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

from cobalance.base import BoolArray, FloatArray, IntArray, special

# Tables of equal probability differ by rounding. R's fisher.test takes the same factor.
SAME_PROBABILITY = 1 + 1e-7
# Tables of one total that are listed, at most.
MOST_TABLES = 50_000
# Images of a clique for the grid, and images times classes.
MOST_IMAGES, MOST_CELLS = 400, 3_000
# Of the grid, in natural logarithms of the probability: all tables that are deeper count as one.
STEP, DEPTH = 0.02, 60.0


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
        weights = _log_chances(possible, class_sizes[0], class_sizes[1], total)
        p_values[rows] = _tail(weights, weights[counts[rows, 0] - first])
    return p_values


def fisher_many(
    counts: IntArray, class_sizes: IntArray, *, quick: bool = False
) -> tuple[FloatArray, BoolArray]:
    """Return exact p-values of cliques in three or more classes with images.

    Parameters
    ----------
    quick : bool
        Test each class against the others where tables are too many to be listed. The grid takes
        seconds, whatever the number of cliques.

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
    # The largest class is the last: it takes the rest of a clique's images.
    order = np.argsort(class_sizes, kind="stable")
    sizes = class_sizes[order]
    n_images, n_classes = int(sizes.sum()), len(sizes)

    # Where images without the clique are fewer than those with it, they are tested: it is the same.
    is_frequent = counts.sum(axis=1) * 2 > n_images
    fewer = np.where(is_frequent[:, None], class_sizes - counts, counts)[:, order]
    totals = fewer.sum(axis=1)

    p_values, by_class = np.empty(len(counts)), np.zeros(len(counts), dtype=np.bool_)
    gridded: dict[int, list[IntArray]] = {}
    for rows in _by_value(totals):
        total = int(totals[rows[0]])
        # Tables are at most as many as the ways to fill all classes but the last, and as the ways
        # to divide the total among classes of any size.
        n_tables = prod(min(size, total) + 1 for size in sizes[:-1].tolist())
        if min(n_tables, comb(total + n_classes - 1, n_classes - 1)) <= MOST_TABLES:
            p_values[rows] = _list_tables(fewer[rows], sizes, total)
        elif not quick and total <= MOST_IMAGES and total * n_classes <= MOST_CELLS:
            gridded.setdefault(total.bit_length(), []).append(rows)
        else:
            by_class[rows] = True

    # Totals of as many bits share a grid.
    for groups in gridded.values():
        rows = np.concatenate(groups)
        p_values[rows] = _on_grid(fewer[rows], sizes)

    if by_class.any():
        class_p_values = []
        for in_class, size in zip(fewer[by_class].T, sizes.tolist(), strict=True):
            pair = np.stack([in_class, totals[by_class] - in_class], axis=1)
            class_p_values.append(fisher(pair, np.array([size, n_images - size])))
        p_values[by_class] = np.minimum(1.0, n_classes * np.min(class_p_values, axis=0))
    return p_values, by_class


def _by_value(values: IntArray) -> list[IntArray]:
    """The positions of each value."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(values) else []


def _log_chances(of_first: IntArray, first: int, second: int, total: int) -> FloatArray:
    """Logarithms of the hypergeometric chances of so many images of the first of two classes.

    As ``scipy.stats.hypergeom.logpmf``, whose module takes longer to import than a table to test.
    """
    log_beta, of_second = special.betaln, total - of_first
    constant = log_beta(first + second - total + 1, total + 1)
    constant += log_beta(first + 1, 1) + log_beta(second + 1, 1) - log_beta(first + second + 1, 1)
    in_first = log_beta(of_first + 1, first - of_first + 1)
    return np.asarray(constant - in_first - log_beta(of_second + 1, second - of_second + 1))


def _tail(weights: FloatArray, observed: FloatArray) -> FloatArray:
    """The share of tables no more probable than some, from logarithms of probabilities."""
    ascending = np.sort(weights)
    shares = np.cumsum(np.exp(ascending - ascending[-1]))
    ends = np.searchsorted(ascending, observed + np.log(SAME_PROBABILITY), side="right")
    return np.minimum(shares[ends - 1] / shares[-1], 1.0)


def _ways(size: int, most: int) -> FloatArray:
    """Logarithms of the ways to choose 0, 1, ... images of a class."""
    chosen = np.arange(min(size, most))
    return np.append(0.0, np.cumsum(np.log((size - chosen) / (chosen + 1))))


def _list_tables(counts: IntArray, sizes: IntArray, total: int) -> FloatArray:
    """p-values of cliques of the same total."""
    ways = [_ways(size, total) for size in sizes.tolist()]

    # Each class in turn takes from none to all of the images that remain in a table, as far as the
    # classes behind it have room for the others.
    remaining, weights = np.array([total]), np.zeros(1)
    room = np.cumsum(sizes[::-1])[::-1]
    for code, class_ways in enumerate(ways[:-1]):
        least = np.maximum(0, remaining - room[code + 1])
        n = np.minimum(remaining, sizes[code]) - least + 1
        start = np.repeat(np.cumsum(n) - n, n)
        chosen = np.arange(n.sum()) - start + np.repeat(least, n)
        remaining = np.repeat(remaining, n) - chosen
        weights = np.repeat(weights, n) + class_ways[chosen]
    weights += ways[-1][remaining]

    logs = [class_ways[images] for class_ways, images in zip(ways, counts.T, strict=True)]
    return _tail(weights, np.sum(logs, axis=0))


def _on_grid(counts: IntArray, sizes: IntArray) -> FloatArray:
    """p-values of cliques of similar totals."""
    totals = counts.sum(axis=1)
    most, bins = int(totals.max()), int(DEPTH / STEP) + 1
    # Conditional on the total, any rate gives the same distribution: this one keeps it in range.
    rate = np.sqrt(float(totals.min()) * most) / sizes.sum()

    # The share of tables of the classes so far, by their images and by their depth on the grid; the
    # last bin has all that are deeper (Pagano and Halvorsen 1981).
    shares = np.zeros((most + 1, bins))
    shares[0, 0] = 1.0
    observed = np.zeros(len(counts), dtype=np.int64)
    for size, class_counts in zip(sizes.tolist(), counts.T, strict=True):
        weights = _ways(size, most)
        weights += np.arange(len(weights)) * np.log(rate / (1 - rate))
        depths = np.minimum(np.rint((weights.max() - weights) / STEP), bins - 1).astype(np.int64)
        chances = np.exp(weights - weights.max())
        chances /= chances.sum()

        sums, before = shares.sum(axis=1), shares
        shares = np.zeros_like(before)
        for images, (depth, chance) in enumerate(zip(depths.tolist(), chances, strict=True)):
            rows = most + 1 - images
            n_above = bins - 1 - depth
            if n_above > 0:
                shares[images:, depth:-1] += chance * before[:rows, :n_above]
                shares[images:, -1] += chance * before[:rows, n_above:].sum(axis=1)
            else:
                shares[images:, -1] += chance * sums[:rows]
        observed += depths[class_counts]

    # A p-value is the share of the tables of its total that are as deep or deeper.
    tails = {total: np.cumsum(shares[total, ::-1])[::-1] for total in set(totals.tolist())}
    p_values = np.empty(len(counts))
    for row, (total, depth) in enumerate(zip(totals.tolist(), observed.tolist(), strict=True)):
        p_values[row] = tails[total][min(depth, bins - 1)] / tails[total][0]
    return p_values
