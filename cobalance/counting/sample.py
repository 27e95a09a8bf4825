"""Choose a few images of every clique, for graphs that do not hold all images."""

from collections.abc import Sequence
from functools import reduce
from importlib.util import find_spec
from math import sqrt

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray, positions_of
from cobalance.counting.cliques import Cliques, intersect_ascending
from cobalance.counting.incidence import Incidence

_FIRST_OF_PARTS = 1_000_000
"""Images that parts give in any case, some 200 bytes each."""
_COMPILED_FROM = 20_000
"""Cliques for which compiled code pays: it loads in 0.8 s, and NumPy takes 28 µs for each."""
_UNKNOWN = -2
"""A concept that no image shows."""


def priorities(ids: Sequence[str], seed: int) -> FloatArray:
    """A number in [0, 1) for each image, which its id and the seed alone decide.

    Examples
    --------
    >>> bool((priorities(["a", "b"], 1) == priorities(["b", "a"], 1)[::-1]).all())
    True
    """
    key = f"{seed % 10**16:016d}"
    hashed = pd.util.hash_array(np.array(ids, dtype=object), hash_key=key, categorize=False)
    # 53 bits are those of a float's mantissa.
    return (hashed >> np.uint64(11)) / 2.0**53


def sample_rows(
    incidence: Incidence,
    priority: FloatArray,
    cliques: Cliques,
    per_class: int,
    *,
    part: bool = False,
) -> IntArray:
    """Rows of images of which each clique has `per_class` in each class, or all that show it.

    Of those that show it, they are the images that come first by priority, so that frequent
    cliques share theirs.

    Parameters
    ----------
    incidence : Incidence
        The images that were counted.
    priority : float array, shape (n_images,)
        From `priorities`.
    cliques : Cliques
        With their counts in all images.
    per_class : int
        1 or more.
    part : bool
        The images are a part of those that were counted. Together the rows of all parts have those
        of the whole, but for one in a million million, and up to 1,000,000 that come first in any
        case: these have what is frequent, which need not be looked for in each part.

    Returns
    -------
    int64 array
        Positions of images, ascending, each once.

    Notes
    -----
    Most of an image list is not looked at: of a clique with n images, one in n / per_class comes
    early enough. Where that bound finds too few, the rest is searched.
    """
    order = np.argsort(priority, kind="stable")
    lists = _Lists(incidence, order)
    code_of = positions_of(incidence.concepts)
    codes = np.array([*(code_of.get(name, _UNKNOWN) for name in cliques.concepts), -1])
    members = codes[cliques.members]

    label_of = positions_of(incidence.classes)
    first_share = (
        min(1.0, _FIRST_OF_PARTS / max(1, int(cliques.class_sizes.sum()))) if part else 0.0
    )
    chosen: BoolArray = priority[order] < first_share
    for column, name in enumerate(cliques.classes):
        if name not in label_of:
            continue

        counts = cliques.counts[:, column]
        # Six standard deviations above what is expected to be needed.
        bound = np.minimum((per_class + 6 * sqrt(per_class) + 20) / np.maximum(counts, 1), 1)
        ends = np.searchsorted(priority[order], bound)
        rows = np.flatnonzero((counts > 0) & (bound > first_share))
        n_marked = lists.mark_first(label_of[name], members[rows], ends[rows], per_class, chosen)

        if not part:
            unlucky = rows[n_marked < np.minimum(per_class, counts[rows])]
            to_the_end = np.full(len(unlucky), len(order))
            lists.mark_first(label_of[name], members[unlucky], to_the_end, per_class, chosen)
    return np.sort(order[chosen])


class _Lists:
    """For each class and concept the images that show it, by rank, ascending."""

    def __init__(self, incidence: Incidence, order: IntArray) -> None:
        self._width = len(incidence.concepts)
        self._n_cells = len(incidence.classes) * self._width

        # The entries of each class and concept come together, by rank. A sort of small numbers
        # takes one pass over their bytes.
        by_rank = incidence.take(order)
        lengths = np.diff(by_rank.indptr)
        cell = np.repeat(by_rank.labels.astype(np.int64) * self._width, lengths) + by_rank.indices
        cell = cell.astype(np.min_scalar_type(self._n_cells))
        by_cell = np.argsort(cell, kind="stable")

        self._ranks = np.repeat(np.arange(len(order), dtype=np.int32), lengths)[by_cell]
        # The last cell, of what no image shows, is empty.
        sizes = np.bincount(cell, minlength=self._n_cells + 1)
        self._bounds = np.concatenate([[0], np.cumsum(sizes)])

    def mark_first(
        self, label: int, members: IntArray, ends: IntArray, most: int, chosen: BoolArray
    ) -> IntArray:
        """Mark the first images of a class that show all members of cliques, and count them.

        Parameters
        ----------
        members : int array, shape (n_cliques, max_size)
            Codes of the images' concepts, -1 behind the last.
        ends : int array, shape (n_cliques,)
            The rank below which images of each clique are looked for.
        most : int
            Images of each clique.
        chosen : bool array, shape (n_images,)
            By rank; changed.
        """
        cells = np.where(members < 0, -1, label * self._width + members)
        cells[members == _UNKNOWN] = self._n_cells

        n_marked = np.zeros(len(cells), dtype=np.int64)
        mark = mark_first
        if len(cells) >= _COMPILED_FROM and find_spec("numba") is not None:
            from cobalance.counting.engines.compiled.firsts import mark_first as mark
        mark(self._ranks, self._bounds, cells, ends, most, chosen, n_marked)
        return n_marked


def mark_first(
    ranks: IntArray,
    bounds: IntArray,
    members: IntArray,
    ends: IntArray,
    most: int,
    chosen: BoolArray,
    n_marked: IntArray,
) -> None:
    """Mark the first images that are in the lists of all members of a clique, for each clique.

    Parameters
    ----------
    ranks, bounds : int arrays
        Lists of ascending ranks one behind the other, and where each begins and the last ends.
    members : int array, shape (n_cliques, max_size)
        Lists of each clique, -1 behind the last.
    ends, most, chosen
        As of `_Lists.mark_first`.
    n_marked : int array, shape (n_cliques,)
        Filled with the images that are marked for each clique.
    """
    starts = bounds.tolist()
    for clique, cells in enumerate(members.tolist()):
        of_members = [ranks[starts[cell] : starts[cell + 1]] for cell in cells if cell >= 0]
        first = _first(sorted(of_members, key=len), ends[clique], most)
        chosen[first] = True
        n_marked[clique] = len(first)


def _first(lists: Sequence[IntArray], end: int, most: int) -> IntArray:
    """The first few ranks below `end` that are in all lists, each of which ascends."""
    # Later ranks are not looked at in any list. A number of another type would copy each of them.
    first, *others = (ranks[: ranks.searchsorted(np.int32(end))] for ranks in lists)
    return reduce(intersect_ascending, others, first)[:most]
