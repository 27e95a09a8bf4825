"""Choose a few images of every clique, for graphs that do not hold all images."""

from collections.abc import Sequence
from functools import reduce
from math import sqrt

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray, positions_of
from cobalance.counting.cliques import Cliques, intersect_ascending
from cobalance.counting.incidence import Incidence


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
        of the whole, but for one in a million million.

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
    chosen: BoolArray = np.zeros(len(order), dtype=bool)
    for column, name in enumerate(cliques.classes):
        if name not in label_of:
            continue

        counts = cliques.counts[:, column]
        # Six standard deviations above what is expected to be needed.
        bound = np.minimum((per_class + 6 * sqrt(per_class) + 20) / np.maximum(counts, 1), 1)
        ends = np.searchsorted(priority[order], bound)
        for row in np.flatnonzero(counts).tolist():
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
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        # The entries of each class and concept come together, by rank.
        lengths = np.diff(incidence.indptr)
        cell = np.repeat(incidence.labels.astype(np.int64) * self.width, lengths)
        cell += incidence.indices
        rank_of_entry = np.repeat(rank, lengths)
        by_cell = np.lexsort((rank_of_entry, cell))
        self.ranks = rank_of_entry[by_cell].astype(np.int32)
        n_cells = len(incidence.classes) * self.width
        self.bounds = np.searchsorted(cell[by_cell], np.arange(n_cells + 1)).tolist()

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
    first, *others = lists
    return reduce(intersect_ascending, others, first[: np.searchsorted(first, end)])[:most]
