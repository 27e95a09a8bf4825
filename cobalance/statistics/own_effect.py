"""Own effects of cliques beyond their parts, and closed cliques."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray
from cobalance.counting import MISSING, Cliques, SubsetIndex
from cobalance.statistics.association import (
    NONE,
    TESTS,
    class_rates,
    largest_difference,
    rate_differences,
)
from cobalance.statistics.clustered_tests import clustered_p_values
from cobalance.statistics.imbalance import categorical, class_columns
from cobalance.statistics.interaction import INTERACTION_TESTS, interaction
from cobalance.statistics.q_values import q_values

EXPECTED = "expected_"
"""Prefix of the columns of expected images."""
# Cells at a time: it bounds the memory.
BLOCK = 1 << 22


def find_closed(cliques: Cliques, index: SubsetIndex | None = None) -> BoolArray:
    """Return which cliques have no superset with the same count in every class.

    Of the cliques in the table: one of the largest size that was mined is always closed. As counts
    only fall when a clique grows, supersets of one more member decide.

    References
    ----------
    Pasquier et al., "Discovering frequent closed itemsets for association rules" (ICDT 1999).

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[5, 2], [9, 2], [5, 2]]),
    ...     np.array([9, 9]), ("lamp", "person"), ("day", "night"))
    >>> find_closed(cliques).tolist()
    [False, True, True]
    """
    index = index or SubsetIndex(cliques.members)
    closed = np.ones(len(cliques), dtype=bool)

    for size in range(2, cliques.members.shape[1] + 1):
        rows, subsets = _subsets(cliques, index, size)
        for member in range(size):
            # All members but one.
            smaller = subsets[:, (1 << size) - 1 ^ 1 << member]
            same = (cliques.counts[smaller] == cliques.counts[rows]).all(axis=1)
            closed[smaller[same & (smaller != MISSING)]] = False
    return closed


def _subsets(cliques: Cliques, index: SubsetIndex, size: int) -> tuple[IntArray, IntArray]:
    """Rows of the cliques of a size, and of their subsets by `SubsetIndex.combinations`."""
    rows = np.flatnonzero(cliques.sizes() == size)
    return rows, index.combinations(cliques.members[rows, :size])


def presence_tables(counts: IntArray) -> IntArray:
    """Turn counts of images with at least some parts into counts of images with exactly those.

    Inclusion and exclusion, one part at a time.

    Parameters
    ----------
    counts : int array, shape (n, 2^k, n_classes)
        Bit i of the second index says whether part i is asked for.

    Examples
    --------
    >>> presence_tables(np.array([[[10], [4], [5], [1]]])).ravel().tolist()
    [2, 3, 4, 1]
    """
    n, n_cells, n_classes = counts.shape
    cells = counts.copy()

    for part in range(n_cells.bit_length() - 1):
        view = cells.reshape(n, n_cells >> part + 1, 2, 1 << part, n_classes)
        view[:, :, 0] -= view[:, :, 1]
    return cells


def presence_blocks(
    cliques: Cliques, index: SubsetIndex
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield rows of cliques of one size, the rows of their subsets, and their `presence_tables`.

    Cliques of which a subset is not in the table are left out.
    """
    for size in range(1, cliques.members.shape[1] + 1):
        rows, subsets = _subsets(cliques, index, size)
        complete = np.flatnonzero((subsets[:, 1:] != MISSING).all(axis=1))
        n_blocks = 1 + subsets.size * len(cliques.classes) // BLOCK
        for block in np.array_split(complete, n_blocks):
            # The empty subset is in all images.
            counts = cliques.counts[subsets[block]]
            counts[:, 0] = cliques.class_sizes
            yield rows[block], subsets[block], presence_tables(counts)


def own_effects(cliques: Cliques) -> pd.DataFrame:
    """Split each clique's imbalance into the part that its subsets explain and its own effect.

    Parameters
    ----------
    cliques : Cliques
        All mined cliques.

    Returns
    -------
    pandas.DataFrame
        One row a clique, in the order of `cliques`. NaN, and ``none`` as the test, where a subset
        of the clique is not in the table.

        - ``expected_<class>``: images of the class with the clique as its parts explain them, see
          `cobalance.statistics.interaction`; for single concepts as the class sizes do
        - ``explained``: of the difference between the largest and the smallest rate, the share
          that the expected images show between the same two classes. 0 for single concepts; above
          1 or below 0 where the parts would have it larger, or the other way round; NaN where all
          rates are equal
        - ``own_effect``: observed less expected rate, in the class where that is largest less in
          the class where it is smallest: from 0, in shares of a class. For single concepts the
          difference between the largest and the smallest rate
        - ``own_over``, ``own_under`` (category): these two classes; missing where it is 0
        - ``own_p_value``, ``own_test``: of no interaction, see
          `cobalance.statistics.interaction`; for single concepts of one rate in all classes, as
          ``p_value`` of the imbalance table
        - ``own_q_value``: Benjamini-Hochberg over all rows that have a p-value
        - ``closed``: see `find_closed`

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[50, 50], [50, 50], [40, 10]]),
    ...     np.array([100, 100]), ("lamp", "person"), ("day", "night"))
    >>> frame = own_effects(cliques)
    >>> print(frame.loc[[2], ["expected_day", "own_effect", "own_over"]])
       expected_day  own_effect own_over
    2          25.0         0.3      day
    """
    n, n_classes = cliques.counts.shape
    index = SubsetIndex(cliques.members)
    expected, p_values = np.full((n, n_classes), np.nan), np.full(n, np.nan)
    tests = np.zeros(n, dtype=np.int8)
    clustering = cliques.clustering
    for rows, _, cells in presence_blocks(cliques, index):
        design = None if clustering is None else clustering.own[rows]
        fit = interaction(cells, design)
        expected[rows], p_values[rows], tests[rows] = fit.expected, fit.p_values, fit.tests

    # Of a single concept that is the test of one rate in all classes, over all of them at once.
    singles = np.flatnonzero(cliques.sizes() == 1)
    p_values[singles], of_singles = clustered_p_values(cliques.take(singles))
    names = (*INTERACTION_TESTS, *TESTS[1:])
    tests[singles] = np.where(of_singles == NONE, NONE, of_singles + len(INTERACTION_TESTS) - 1)

    own_q_values, is_tested = np.full(n, np.nan), ~np.isnan(p_values)
    own_q_values[is_tested] = q_values(p_values[is_tested])

    # Classes without images have no rate.
    with np.errstate(invalid="ignore"):
        beyond: FloatArray = (cliques.counts - expected) / cliques.class_sizes
    effect, over, under = largest_difference(beyond)
    return pd.DataFrame(
        {
            **class_columns(EXPECTED, cliques.classes, expected),
            "explained": _share_explained(cliques, expected),
            "own_effect": effect,
            "own_over": categorical(over, cliques.classes),
            "own_under": categorical(under, cliques.classes),
            "own_p_value": p_values,
            "own_q_value": own_q_values,
            "own_test": categorical(tests, names),
            "closed": find_closed(cliques, index),
        }
    )


def _share_explained(cliques: Cliques, expected: FloatArray) -> FloatArray:
    """Share of the largest difference of rates that the expected images show."""
    observed, most, least = rate_differences(cliques.counts, cliques.class_sizes)
    expected_rates, rows = class_rates(expected, cliques.class_sizes), np.arange(len(cliques))
    explained = expected_rates[rows, most] - expected_rates[rows, least]

    share = np.full(len(rows), np.nan)
    np.divide(explained, observed, out=share, where=observed > 0)
    # Rates that are equal differ by rounding.
    return np.where(np.abs(share) < 1e-9, 0.0, share)
