"""Exact nearest neighbours by cosine distance, in blocks of bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.graph.arrays import BoolArray, FloatArray
from cobalance.graph.errors import DataError

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
    search = _open_search(queries, points, k, own)
    for start, sure, possible in search.blocks():
        rows, columns, _ = search.sorted_pairs(start, possible)
        missing = search.k - sure.sum(axis=1)
        kept = _place_in_row(rows) < missing[rows]
        sure[rows[kept], columns[kept]] = True
        yield slice(start, start + len(sure)), np.nonzero(sure)[1].reshape(len(sure), search.k)


@dataclass(frozen=True, eq=False)
class _Search:
    """Vectors that are ready to be searched, with their Euclidean norms."""

    queries: npt.NDArray[np.floating]
    query_norms: FloatArray
    points: npt.NDArray[np.floating]
    point_norms: FloatArray
    k: int  # at most the number of points that a query has
    own: Positions | None

    def blocks(self) -> Iterator[tuple[int, BoolArray, BoolArray]]:
        """Yield each block's first query, with masks of certain and of possible neighbours.

        Both arrays have the shape (queries, points). Of the k nearest all are in one or the other,
        and the sure ones are all among them.
        """
        n_points, n_dimensions = self.points.shape
        error = (n_dimensions + 8) * _ROUNDING  # of a product: rounded vectors, rounded sums
        margin = np.float32(2.5 * error)  # 2, and the rest for the rounding of the limits
        ready = _unit(self.points, self.point_norms).T
        step = max(1, BLOCK_BYTES // (4 * max(1, n_points)))
        for start in range(0, len(self.queries), step):
            block = slice(start, start + step)
            products = _unit(self.queries[block], self.query_norms[block]) @ ready
            if self.own is not None:
                products[np.arange(len(products)), self.own[block]] = -np.inf
            if self.k == 0:
                nothing = np.zeros(products.shape, dtype=np.bool_)
                yield start, nothing, nothing
                continue
            place = n_points - self.k
            kth = np.partition(products, place, axis=1)[:, place, np.newaxis]
            sure = products > kth + margin
            yield start, sure, (products >= kth - margin) & ~sure

    def sorted_pairs(
        self, start: int, chosen: BoolArray
    ) -> tuple[Positions, Positions, FloatArray]:
        """Row, column and exact distance of the chosen pairs, by row, distance and column."""
        rows, columns = np.nonzero(chosen)
        distances = np.empty(len(rows))
        step = max(1, BLOCK_BYTES // (8 * max(1, self.points.shape[1])))
        for first in range(0, len(rows), step):
            pairs = slice(first, first + step)
            distances[pairs] = self._distances(start + rows[pairs], columns[pairs])
        order = np.lexsort((columns, distances, rows))
        return rows[order], columns[order], distances[order]

    def _distances(self, queries: Positions, points: Positions) -> FloatArray:
        left = self.queries[queries].astype(np.float64, copy=False)
        left *= self.points[points]  # an indexed array is a copy
        scales = self.query_norms[queries] * self.point_norms[points]
        cosines = left.sum(axis=1) / np.where(scales > 0, scales, 1)
        distances: FloatArray = np.clip(1 - cosines, 0, 2)
        return distances


def _open_search(
    queries: npt.NDArray[np.floating],
    points: npt.NDArray[np.floating],
    k: int,
    own: Positions | None,
) -> _Search:
    norms = _norms(queries)
    others = norms if points is queries else _norms(points)
    most = len(points) if own is None else max(0, len(points) - 1)
    return _Search(queries, norms, points, others, min(k, most), own)


def _norms(vectors: npt.NDArray[np.floating]) -> FloatArray:
    """Euclidean norms in double precision."""
    norms = np.empty(len(vectors))
    step = max(1, BLOCK_BYTES // (8 * max(1, vectors.shape[1])))
    for start in range(0, len(vectors), step):
        rows = vectors[start : start + step].astype(np.float64)
        norms[start : start + step] = np.sqrt((rows * rows).sum(axis=1))
    if not np.isfinite(norms).all():
        at = int(np.flatnonzero(~np.isfinite(norms))[0])
        raise DataError(f"Vector {at} has a value that is not finite, or too large a one.")
    return norms


def _unit(vectors: npt.NDArray[np.floating], norms: FloatArray) -> npt.NDArray[np.float32]:
    """Vectors of length 1 in single precision; zeros stay."""
    scaled = np.empty(vectors.shape, dtype=np.float32)
    step = max(1, BLOCK_BYTES // (8 * max(1, vectors.shape[1])))
    for start in range(0, len(vectors), step):
        rows = slice(start, start + step)
        divisors = np.where(norms[rows] > 0, norms[rows], 1)[:, np.newaxis]
        scaled[rows] = vectors[rows] / divisors
    return scaled


def _place_in_row(rows: Positions) -> Positions:
    """How many entries of its row stand before each one; rows in ascending order.

    Examples
    --------
    >>> _place_in_row(np.array([0, 0, 2, 2, 2])).tolist()
    [0, 1, 0, 1, 2]
    """
    places: Positions = np.arange(len(rows)) - np.searchsorted(rows, rows)
    return places
