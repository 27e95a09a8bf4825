"""Choose a few images of every clique, for graphs that do not hold all images."""

from collections.abc import Sequence
from functools import reduce
from math import sqrt

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray, positions_of
from cobalance.counting.cliques import Cliques, intersect_ascending
from cobalance.counting.incidence import Incidence

_FIRST_OF_PARTS = 1_000_000
"""Images that parts give in any case, some 200 bytes each."""


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
    showing = _Lists(incidence, order)
    code_of = positions_of(incidence.concepts)
    codes = np.array([*(code_of.get(name, -2) for name in cliques.concepts), -1])
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
        for row in np.flatnonzero((counts > 0) & (bound > first_share)).tolist():
            lists = showing.of(label_of[name], members[row])
            ranks = _first(lists, int(ends[row]), per_class)
            if not part and len(ranks) < min(per_class, counts[row]):
                ranks = _first(lists, len(order), per_class)
            chosen[ranks] = True
    return np.sort(order[chosen])


class _Lists:
    """For each class and concept the images that show it, by rank, ascending."""

    def __init__(self, incidence: Incidence, order: IntArray) -> None:
        self.width = len(incidence.concepts)
        n_cells = len(incidence.classes) * self.width

        # The entries of each class and concept come together, by rank. A sort of small numbers
        # takes one pass over their bytes.
        by_rank = incidence.take(order)
        lengths = np.diff(by_rank.indptr)
        cell = np.repeat(by_rank.labels.astype(np.int64) * self.width, lengths) + by_rank.indices
        cell = cell.astype(np.min_scalar_type(n_cells))
        by_cell = np.argsort(cell, kind="stable")

        self.ranks = np.repeat(np.arange(len(order), dtype=np.int32), lengths)[by_cell]
        self.bounds = [0, *np.cumsum(np.bincount(cell, minlength=n_cells)).tolist()]

    def of(self, label: int, members: IntArray) -> list[IntArray]:
        """The lists of a clique's concepts in a class, shortest first; none if one is unknown."""
        lists = []
        for code in members.tolist():
            if code == -2:
                return []
            if code != -1:
                cell = label * self.width + code
                lists.append(self.ranks[self.bounds[cell] : self.bounds[cell + 1]])
        return sorted(lists, key=len)


def _first(lists: Sequence[IntArray], end: int, most: int) -> IntArray:
    """The first few ranks below `end` that are in all lists, each of which ascends."""
    if not lists:
        return np.empty(0, dtype=np.int32)
    # Later ranks are not looked at in any list. A number of another type would copy each of them.
    first, *others = (ranks[: ranks.searchsorted(np.int32(end))] for ranks in lists)
    return reduce(intersect_ascending, others, first)[:most]
