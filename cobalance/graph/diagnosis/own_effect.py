"""Own effects of cliques beyond their parts, and closed cliques."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cobalance.graph.arrays import BoolArray, FloatArray, IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.diagnosis.interaction import INTERACTION_TESTS, fit_expected, interaction
from cobalance.graph.diagnosis.q_values import q_values

MISSING = -1
EXPECTED = "expected_"
"""Prefix of the columns of expected images."""
BLOCK = 1 << 22  # cells at a time: bounds the memory


class Parts:
    """The rows of all subsets of each clique of a table.

    Mined tables are downward closed: each subset of a clique has at least its support, and its
    concepts are common to the same classes. A table of some of the rows may lack subsets.
    """

    def __init__(self, cliques: Cliques) -> None:
        self._members = members = np.asarray(cliques.members, dtype=np.int64)
        self._base = int(members.max(initial=0)) + 1
        self._keys: list[IntArray] = []
        self._rows: list[IntArray] = []
        self._sizes = cliques.sizes()
        for size in range(1, members.shape[1] + 1):
            rows = np.flatnonzero(self._sizes == size)
            before = self._walk(members[rows], range(size - 1))
            known = (before != MISSING) if size > 1 else np.ones(len(rows), dtype=bool)
            keys = (before * self._base + members[rows, size - 1])[known]
            order = np.argsort(keys)
            self._keys.append(keys[order])
            self._rows.append(rows[known][order])

    def of_size(self, size: int) -> tuple[IntArray, IntArray]:
        """Rows of the cliques of a size, and the rows of their subsets.

        Returns
        -------
        rows : int array, shape (n,)
        subsets : int array, shape (n, 2^size)
            Bit i of the second index says whether member i is in it. -1 for a subset that is not
            in the table, and for the empty one.
        """
        rows = np.flatnonzero(self._sizes == size)
        members = self._members[rows]
        subsets: IntArray = np.full((len(rows), 1 << size), MISSING)
        for mask in range(1, 1 << size):
            last = mask.bit_length() - 1
            rest = mask ^ 1 << last
            subsets[:, mask] = self._step(
                subsets[:, rest] if rest else np.zeros(len(rows), dtype=np.int64),
                members[:, last],
                rest.bit_count(),
            )
        subsets[:, -1] = rows  # found even where a subset that leads there is missing
        return rows, subsets

    def _walk(self, members: IntArray, columns: Sequence[int]) -> IntArray:
        found: IntArray = np.zeros(len(members), dtype=np.int64)
        for depth, column in enumerate(columns):
            found = self._step(found, members[:, column], depth)
        return found

    def _step(self, before: IntArray, codes: IntArray, depth: int) -> IntArray:
        keys = self._keys[depth]
        if not len(keys):
            return np.full(len(codes), MISSING)
        wanted = before * self._base + codes
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = (keys[at] == wanted) & (before != MISSING)
        return np.where(found, self._rows[depth][at], MISSING)


def find_closed(cliques: Cliques, parts: Parts | None = None) -> BoolArray:
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
    parts = parts or Parts(cliques)
    closed = np.ones(len(cliques), dtype=bool)
    for size in range(2, cliques.members.shape[1] + 1):
        rows, subsets = parts.of_size(size)
        for member in range(size):
            smaller = subsets[:, (1 << size) - 1 ^ 1 << member]
            same = (cliques.counts[smaller] == cliques.counts[rows]).all(axis=1)
            closed[smaller[same & (smaller != MISSING)]] = False
    return closed


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


def own_effects(cliques: Cliques, *, tests: bool = True) -> pd.DataFrame:
    """Split each clique's imbalance into the part that its subsets explain and its own effect.

    Parameters
    ----------
    cliques : Cliques
        All mined cliques.
    tests : bool
        Whether to test each effect, which takes most of the time. Without, ``own_p_value``,
        ``own_q_value`` and ``own_test`` are left out.

    Returns
    -------
    pandas.DataFrame
        One row a clique, in the order of `cliques`. NaN, and ``none`` as the test, where a subset
        of the clique is not in the table.

        - ``expected_<class>``: images of the class with the clique as its parts explain them, see
          `cobalance.graph.diagnosis.interaction`; for single concepts as the class sizes do
        - ``explained``: of the difference between the largest and the smallest rate, the share
          that the expected images show between the same two classes. 0 for single concepts; above
          1 or below 0 where the parts would have it larger, or the other way round; NaN where all
          rates are equal
        - ``own_effect``: observed less expected rate, in the class where that is largest less in
          the class where it is smallest: from 0, in shares of a class. For single concepts the
          difference between the largest and the smallest rate
        - ``own_over``, ``own_under`` (category): these two classes; missing where it is 0
        - ``own_p_value``, ``own_test``: of no interaction, see
          `cobalance.graph.diagnosis.interaction`
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
    parts = Parts(cliques)
    expected, p_values = np.full((n, n_classes), np.nan), np.full(n, np.nan)
    codes = np.zeros(n, dtype=np.int8)
    for size in range(1, cliques.members.shape[1] + 1):
        all_rows, all_subsets = parts.of_size(size)
        whole = (all_subsets[:, 1:] != MISSING).all(axis=1)
        rows, subsets = all_rows[whole], all_subsets[whole]
        for some in np.array_split(np.arange(len(rows)), 1 + subsets.size * n_classes // BLOCK):
            counts = cliques.counts[subsets[some]]
            counts[:, 0] = cliques.class_sizes
            cells = presence_tables(counts)
            if not tests:
                expected[rows[some]] = fit_expected(cells)
                continue
            found = interaction(cells, cliques.class_sizes)
            expected[rows[some]] = found.expected
            p_values[rows[some]], codes[rows[some]] = found.p_values, found.tests
    q, tested = np.full(n, np.nan), ~np.isnan(p_values)
    if tested.any():
        q[tested] = q_values(p_values[tested])
    effect, over, under = _largest_difference(cliques, expected)
    names = pd.Index(list(cliques.classes))
    frame = pd.DataFrame(
        {
            **{EXPECTED + name: expected[:, i] for i, name in enumerate(cliques.classes)},
            "explained": _share_explained(cliques, expected),
            "own_effect": effect,
            "own_over": pd.Categorical.from_codes(over, names),
            "own_under": pd.Categorical.from_codes(under, names),
            "own_p_value": p_values,
            "own_q_value": q,
            "own_test": pd.Categorical.from_codes(codes, pd.Index(list(INTERACTION_TESTS))),
            "closed": find_closed(cliques, parts),
        }
    )
    return frame if tests else frame.drop(columns=["own_p_value", "own_q_value", "own_test"])


def _share_explained(cliques: Cliques, expected: FloatArray) -> FloatArray:
    """Share of the largest difference of rates that the expected images show."""
    shown = np.flatnonzero(cliques.class_sizes)
    if not len(shown):
        return np.full(len(cliques), np.nan)
    sizes = cliques.class_sizes[shown]
    rates = cliques.counts[:, shown] / sizes
    by_parts = expected[:, shown] / sizes
    rows, most, least = np.arange(len(rates)), rates.argmax(axis=1), rates.argmin(axis=1)
    observed = rates[rows, most] - rates[rows, least]
    explained = by_parts[rows, most] - by_parts[rows, least]
    share = np.full(len(rates), np.nan)
    np.divide(explained, observed, out=share, where=observed > 0)
    return np.where(np.abs(share) < 1e-9, 0.0, share)  # rounding of rates that are equal


def _largest_difference(
    cliques: Cliques, expected: FloatArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Observed less expected rates: largest less smallest, and their classes; -1 for none."""
    n = len(cliques)
    with np.errstate(invalid="ignore"):  # classes without images have no rate
        beyond: FloatArray = (cliques.counts - expected) / cliques.class_sizes
    over, under = np.full(n, -1), np.full(n, -1)
    effect = np.full(n, np.nan)
    known = np.flatnonzero((~np.isnan(beyond)).any(axis=1))
    over[known] = np.nanargmax(beyond[known], axis=1)
    under[known] = np.nanargmin(beyond[known], axis=1)
    effect[known] = beyond[known, over[known]] - beyond[known, under[known]]
    none = ~(effect > 1e-9)  # as is rounding of 0
    effect[none & ~np.isnan(effect)] = 0.0
    over[none], under[none] = -1, -1
    return effect, over, under
