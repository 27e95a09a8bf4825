"""Select cliques by a filter or by name, and fold cliques of the same images."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from cobalance.base import (
    FloatArray,
    IntArray,
    OptionError,
    check_known,
    clean_name,
    group_pairs,
    positions_of,
)
from cobalance.counting import Cliques
from cobalance.statistics.association import leading_classes
from cobalance.statistics.clustered_tests import clustered_p_values
from cobalance.statistics.q_values import check_q_value, q_values

# Codes of no member, and of a concept that the table does not have.
MISSING, UNKNOWN = -1, -2


@dataclass(frozen=True)
class CliqueFilter:
    """Filter cliques by class, concepts, gap and q-value.

    Parameters
    ----------
    under_represented : str or None
        Only cliques in which this class has the fewest images, and fewer than another.
    concepts : tuple of str
        Only cliques that contain all of these.
    min_gap : int
        Only cliques with at least this gap, in images. The default lets balanced ones through: a
        plan for larger cliques may unbalance them, and balances them again if they are in it.
    max_q_value : float or None
        Only cliques with at most this q-value (Benjamini-Hochberg over all cliques).

    Raises
    ------
    OptionError
        `min_gap` is below 0, or `max_q_value` is not from 0 to 1.
    """

    under_represented: str | None = None
    concepts: tuple[str, ...] = ()
    min_gap: int = 0
    max_q_value: float | None = None

    def __post_init__(self) -> None:
        if self.under_represented is not None:
            object.__setattr__(self, "under_represented", clean_name(self.under_represented))
        object.__setattr__(self, "concepts", tuple(map(clean_name, self.concepts)))
        if self.min_gap < 0:
            raise OptionError(f"min_gap is {self.min_gap}; give 0 or more")
        check_q_value(self.max_q_value)

    def rows(self, cliques: Cliques) -> IntArray:
        """Return the rows of the cliques that pass, ascending.

        Parameters
        ----------
        cliques : Cliques
            All mined cliques: the q-values are over the whole table.

        Raises
        ------
        UnknownNameError
            The filter names a class or concept that `cliques` does not know.

        Examples
        --------
        >>> cliques = Cliques(
        ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[5, 7], [5, 5], [1, 3]]),
        ...     np.array([9, 9]), ("cow", "road"), ("country", "urban"))
        >>> CliqueFilter(concepts=("cow",), under_represented="country").rows(cliques).tolist()
        [0, 2]
        """
        gaps = cliques.gaps()
        passed = gaps >= self.min_gap
        if self.under_represented is not None:
            check_known("class", [self.under_represented], cliques.classes)
            code = cliques.classes.index(self.under_represented)
            passed &= (leading_classes(cliques.counts)[1] == code) & (gaps > 0)

        check_known("concept", self.concepts, cliques.concepts)
        for name in self.concepts:
            passed &= (cliques.members == cliques.concepts.index(name)).any(axis=1)
        if self.max_q_value is not None:
            passed &= clique_q_values(cliques) <= self.max_q_value
        return np.flatnonzero(passed)


# Testing all cliques takes a second: their q-values are kept for as long as they are.
_tested: WeakKeyDictionary[Cliques, FloatArray] = WeakKeyDictionary()


def clique_q_values(cliques: Cliques) -> FloatArray:
    """Return the q-values of all cliques of a table, tested once: not to be written to.

    Returns
    -------
    float64 array, shape (n_cliques,)
    """
    if cliques not in _tested:
        _tested[cliques] = q_values(clustered_p_values(cliques)[0])
    return _tested[cliques]


def find_rows(cliques: Cliques, wanted: Sequence[tuple[str, ...]]) -> IntArray:
    """Return the rows of cliques given by name.

    Parameters
    ----------
    wanted : sequence of tuple of str
        Concepts of each, in ascending order.

    Returns
    -------
    int64 array, shape (n_wanted,)
        The row of each in the table; -1 for one that is not in it.
    """
    code_of = positions_of(cliques.concepts)
    width = cliques.members.shape[1]
    wanted_members = np.full((len(wanted), width), MISSING, dtype=np.int64)
    for position, names in enumerate(wanted):
        codes = [code_of.get(name, UNKNOWN) for name in names]
        # The table has no clique of more members than it has columns.
        wanted_members[position, : len(names)] = codes if len(codes) <= width else UNKNOWN

    index = pd.MultiIndex.from_arrays(list(cliques.members.T))
    return index.get_indexer(pd.MultiIndex.from_arrays(list(wanted_members.T)))


def fold_repeats(cliques: Sequence[tuple[str, ...]], counts: IntArray) -> list[list[int]]:
    """Group the rows of a table whose cliques have the same images.

    A clique within another, with the same count in every class, has the other's images and no
    more. Cliques that only happen to have equal counts stay apart.

    Parameters
    ----------
    cliques : sequence of tuple of str
        Concepts of each, in ascending order; each clique once.
    counts : int array, shape (n_cliques, n_classes)
        Images of each class that contain it.

    Returns
    -------
    list of list of int
        Rows of each group in the order of the groups' first rows. The largest clique, the first
        of them in the table, stands for the others and comes first; the others in their order.

    Examples
    --------
    >>> rows = [("lamp",), ("cow",), ("lamp", "person"), ("person",)]
    >>> fold_repeats(rows, np.array([[5, 2], [5, 2], [5, 2], [6, 3]]))
    [[2, 0], [1], [3]]
    """
    row_of = positions_of(cliques)
    group = list(range(len(cliques)))

    # Rows form a forest: each leads to an earlier one of its group, the first of all to itself.
    def first_of(row: int) -> int:
        while group[row] != row:
            group[row] = group[group[row]]
            row = group[row]
        return row

    for row, names in enumerate(cliques):
        for member in range(len(names)):
            smaller = row_of.get(names[:member] + names[member + 1 :])
            if smaller is not None and np.array_equal(counts[smaller], counts[row]):
                first, second = sorted((first_of(smaller), first_of(row)))
                group[second] = first

    folded = []
    groups = group_pairs((first_of(row), row) for row in range(len(cliques)))
    for rows in groups.values():
        largest = max(rows, key=lambda row: len(cliques[row]))
        folded.append([largest, *(row for row in rows if row != largest)])
    return folded
