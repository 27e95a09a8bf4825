"""Exact nearest neighbours by cosine distance, in blocks of bounded memory."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cobalance.base import DataError, FloatArray
from cobalance.ingest.embeddings.similarity import unit_vectors

Positions = npt.NDArray[np.int64]

BLOCK_BYTES = 1 << 26
"""Size of the largest array of a block, 64 MiB; a search has a few of them at a time."""

_ROUNDING = 2.0**-24
"""Unit roundoff of single precision."""


def neighbourhoods(
    queries: npt.NDArray[np.floating],
    points: npt.NDArray[np.floating],
    k: int,
    *,
    own: Positions | None = None,
) -> Iterator[tuple[slice, Positions]]:
    r"""Find the k nearest points of each query as a set, block by block.

    Exact: the same points as if all distances were computed in double precision and sorted. The
    cosine distance is 1 - a · b / (\|a\| \|b\|), from 0 to 2; a vector of zeros is at 1 from all.
    Of points at the same distance, the one with the lower position is the nearer one.

    Parameters
    ----------
    queries : array, shape (m, d)
        Vectors; finite.
    points : array, shape (n, d)
        Vectors to search; finite.
    k : int
        Neighbours of each query, 1 or more. Where there are fewer, all of them are given.
    own : int array, shape (m,), or None
        The position of each query among the points, which is left out of its neighbours. Another
        point with the same vector stays in.

    Yields
    ------
    queries : slice
        The next queries, in order.
    positions : int64 array, shape (queries, min(k, n)), or (queries, min(k, n - 1)) with `own`
        Their neighbours' positions among the points, ascending.

    Raises
    ------
    DataError
        A value is not finite.

    Notes
    -----
    O(m · n · d) time, for the products in single precision, by the machine's linear algebra on all
    its threads. They tell which points are certainly among the nearest, and which may be: those
    whose product is within the bound of its rounding error of the k-th largest. Only these are
    compared in double precision, each pair by itself and with one order of summation, so that
    neither blocks nor threads change the result; where many points are at nearly the k-th distance,
    as many, n in the worst case. Memory: the vectors in single precision, and blocks of
    `BLOCK_BYTES`.

    Examples
    --------
    >>> points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
    >>> for block, positions in neighbourhoods(points, points, 2, own=np.arange(4)):
    ...     print(block, positions.tolist())
    slice(0, 4, None) [[1, 2], [0, 2], [0, 1], [1, 2]]
    """
    query_norms = _norms(queries)
    point_norms = query_norms if points is queries else _norms(points)
    n_points, n_dimensions = points.shape
    k = min(k, n_points if own is None else max(0, n_points - 1))
    # Of a product: the rounding of both vectors, and of the sums.
    error = (n_dimensions + 8) * _ROUNDING
    # Twice the error, and the rest for the rounding of the limits.
    margin = np.float32(2.5 * error)

    ready = unit_vectors(points).T
    step = max(1, BLOCK_BYTES // (4 * max(1, n_points)))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        products = unit_vectors(queries[block]) @ ready
        if own is not None:
            # A query is no neighbour of itself.
            products[np.arange(len(products)), own[block]] = -np.inf

        nearest = np.zeros(products.shape, dtype=np.bool_)
        if k > 0:
            # The points within the margin of the k-th product may be among the nearest: their
            # distances are computed in double precision, and the nearest of them fill the places
            # left.
            kth = np.partition(products, n_points - k, axis=1)[:, n_points - k, np.newaxis]
            nearest = products > kth + margin
            rows, columns = np.nonzero((products >= kth - margin) & ~nearest)

            distances = np.empty(len(rows))
            at_once = max(1, BLOCK_BYTES // (8 * max(1, n_dimensions)))
            for first in range(0, len(rows), at_once):
                pairs = slice(first, first + at_once)
                query, point = start + rows[pairs], columns[pairs]
                scales = query_norms[query] * point_norms[point]
                distances[pairs] = _distances(queries[query], points[point], scales)

            order = np.lexsort((columns, distances, rows))
            rows, columns = rows[order], columns[order]
            place_in_row = np.arange(len(rows)) - np.searchsorted(rows, rows)
            is_nearest = place_in_row < (k - nearest.sum(axis=1))[rows]
            nearest[rows[is_nearest], columns[is_nearest]] = True

        yield slice(start, start + len(nearest)), np.nonzero(nearest)[1].reshape(len(nearest), k)


def _distances(
    left: npt.NDArray[np.floating], right: npt.NDArray[np.floating], scales: FloatArray
) -> FloatArray:
    """Cosine distances of rows in double precision, by the products of their norms."""
    products = left.astype(np.float64)
    products *= right
    cosines = products.sum(axis=1) / np.where(scales > 0, scales, 1)
    return np.clip(1 - cosines, 0, 2)


def _norms(vectors: npt.NDArray[np.floating]) -> FloatArray:
    """Euclidean norms in double precision."""
    norms = np.empty(len(vectors))
    step = max(1, BLOCK_BYTES // (8 * max(1, vectors.shape[1])))
    for start in range(0, len(vectors), step):
        rows = vectors[start : start + step].astype(np.float64)
        norms[start : start + step] = np.sqrt((rows * rows).sum(axis=1))

    if not np.isfinite(norms).all():
        row = int(np.flatnonzero(~np.isfinite(norms))[0])
        raise DataError(f"Vector {row} has a value that is not finite, or too large a one.")
    return norms
