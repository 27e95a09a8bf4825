"""Exact cosine neighbours and near duplicates, by matrix products in blocks."""

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, IntArray, OptionError, Progress, silent, sparse

Vectors = npt.NDArray[np.float32]
MAX_PAIRS = 5_000_000
"""The most pairs of near duplicates that are looked at."""
ROWS, COLUMNS = 1024, 4096  # of a tile, whose products stay in the processor's cache
_MARGIN = 1e-5  # more than a product of unit vectors in single precision is wrong by
_LEADING = 64  # dimensions that bound a cosine
_DENSE = 0.02  # the share of a tile from which its cosines are computed


def unit_vectors(vectors: npt.ArrayLike) -> Vectors:
    """Normalise vectors to length 1 in single precision; zero vectors stay zero.

    Examples
    --------
    >>> unit_vectors([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors)
    unit = np.zeros(rows.shape, dtype=np.float32)
    # Rows of 64 MiB in double precision.
    step = max(1, (1 << 26) // (8 * max(1, rows.shape[1])))
    for start in range(0, len(rows), step):
        part = rows[start : start + step].astype(np.float64)
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        unit[start : start + step] = part / np.where(lengths > 0, lengths, 1)
    return unit


def cosines(unit: Vectors, left: IntArray, right: IntArray) -> FloatArray:
    """Cosines of pairs of rows, in double precision."""
    values = np.empty(len(left))
    for start in range(0, len(left), 20_000):
        part = slice(start, start + 20_000)
        a, b = unit[left[part]].astype(np.float64), unit[right[part]].astype(np.float64)
        values[part] = np.einsum("ij,ij->i", a, b)
    return values


def nearest(unit: Vectors, row: int, k: int) -> tuple[IntArray, FloatArray]:
    """The `k` rows most like one, itself left out, the most alike first; ties in their order.

    Complexity: one product of the matrix with a vector.

    Examples
    --------
    >>> rows, cosine = nearest(unit_vectors([[1, 0], [0, 1], [1, 1], [2, 0]]), 0, 2)
    >>> rows.tolist(), cosine.round(3).tolist()
    ([3, 2], [1.0, 0.707])
    """
    k = min(k, len(unit) - 1)
    if k <= 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0)

    # The rows that rounding may put among the nearest are compared in double precision.
    rough = unit @ unit[row]
    rough[row] = -np.inf
    least = np.partition(rough, len(rough) - k)[len(rough) - k]
    rows = np.flatnonzero(rough >= least - 2 * _MARGIN)

    exact = cosines(unit, np.full(len(rows), row), rows)

    order = np.lexsort((rows, -exact))[:k]
    return rows[order], exact[order]


def near_pairs(
    unit: Vectors, threshold: float, progress: Progress = silent
) -> tuple[IntArray, IntArray, FloatArray]:
    """All pairs of rows whose cosine is at least `threshold`: lower rows, higher rows, cosines.

    Vectors are rotated so that their first dimensions hold most of them. With a = (a1, a2) and
    b = (b1, b2), the cosine is at most a1·b1 + |a2||b2| (Cauchy and Schwarz), a product of few
    dimensions; only pairs that pass it are computed in full, in double precision. Memory is that
    of a tile of 1,024 by 4,096 rows.

    Raises
    ------
    OptionError
        There are more than `MAX_PAIRS` pairs.
    """
    bound, least = _bounding(unit), np.float32(threshold - _MARGIN)
    nothing: IntArray = np.zeros(0, dtype=np.int64)

    lefts, rights, values, pairs = [nothing], [nothing], [np.zeros(0)], 0
    for start in range(0, len(unit), ROWS):
        progress("compare images", start, len(unit))
        for first in range(start, len(unit), COLUMNS):
            left, right = _candidates(unit, bound, start, first, least)
            exact = cosines(unit, left, right)
            is_near = exact >= threshold
            pairs += int(is_near.sum())
            if pairs > MAX_PAIRS:
                raise OptionError(
                    f"More than {MAX_PAIRS:,} pairs of images are alike by {threshold:g}. Choose "
                    "a higher similarity."
                )
            lefts.append(left[is_near])
            rights.append(right[is_near])
            values.append(exact[is_near])
    return np.concatenate(lefts), np.concatenate(rights), np.concatenate(values)


def groups_of(pairs: tuple[IntArray, IntArray], rows: int) -> list[IntArray]:
    """Rows that pairs connect, each group ascending; the largest first, ties by the lowest row.

    Examples
    --------
    >>> [group.tolist() for group in groups_of((np.array([4, 0, 1]), np.array([5, 1, 3])), 6)]
    [[0, 1, 3], [4, 5]]
    """
    left, right = pairs
    edges = sparse.coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(rows, rows))
    _, label = sparse.csgraph.connected_components(edges, directed=False)

    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if rows else []
    several = [group for group in groups if len(group) > 1]
    return sorted(several, key=lambda group: (-len(group), group[0]))


def principal_axes(unit: Vectors, axes: int) -> npt.NDArray[np.float32]:
    """Place rows on their first principal axes, each turned so that its largest weight is above 0.

    The same vectors give the same places: no random number takes part.

    Returns
    -------
    numpy.ndarray, shape (n_rows, axes)
        Axes that the vectors do not have are 0.
    """
    place = np.zeros((len(unit), axes), dtype=np.float32)
    if len(unit):
        mean = unit.mean(axis=0, dtype=np.float64)
        scatter = (unit.T @ unit).astype(np.float64) / len(unit) - np.outer(mean, mean)
        weights = np.linalg.eigh(scatter)[1][:, ::-1][:, :axes]

        # Axes are defined but for their sign.
        turned = np.take_along_axis(weights, np.abs(weights).argmax(axis=0)[None], axis=0)
        weights = weights * np.where(turned < 0, -1, 1)
        place[:, : weights.shape[1]] = unit @ weights.astype(np.float32) - mean @ weights
    return place


def _candidates(
    unit: Vectors, bound: Vectors, start: int, first: int, least: np.float32
) -> tuple[IntArray, IntArray]:
    """Pairs of a tile whose bound, or cosine where many pass that, is at least `least`."""
    rows, columns = slice(start, start + ROWS), slice(first, first + COLUMNS)
    tile = bound[rows] @ bound[columns].T
    if first == start:
        # Each row is like itself.
        np.fill_diagonal(tile, -np.inf)

    # One pass over the maxima leaves most tiles out.
    passing = np.flatnonzero(tile.max(axis=1) >= least)
    above = tile[passing] >= least
    if above.sum() > _DENSE * tile.size:
        above = unit[rows][passing] @ unit[columns].T >= least

    left, right = np.nonzero(above)
    left, right = passing[left] + start, right + first
    # Pairs below the diagonal are those above it.
    upper = left < right
    return left[upper], right[upper]


def _bounding(unit: Vectors) -> Vectors:
    """Rows whose products are never less than the vectors' own, in fewer dimensions."""
    width = unit.shape[1]
    if width <= _LEADING + 1 or not len(unit):
        return unit

    axes = np.linalg.eigh((unit.T @ unit).astype(np.float64))[1][:, ::-1][:, :_LEADING]
    leading = (unit @ axes.astype(np.float32)).astype(np.float64)
    squared_lengths = np.einsum("ij,ij->i", unit, unit, dtype=np.float64)
    # A margin, so that rounding does not put the bound below a cosine.
    rest = np.sqrt(
        np.clip(squared_lengths - np.einsum("ij,ij->i", leading, leading), 0, None) + _MARGIN / 4
    )
    return np.column_stack([leading, rest]).astype(np.float32)
