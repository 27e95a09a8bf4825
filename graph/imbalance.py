"""The imbalance of every clique as one table, and the order in which to look at it."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from graph.cliques import Cliques, IntArray
from graph.errors import OptionError, UnknownNameError
from graph.statistics import (
    TESTS,
    class_lift,
    class_rates,
    homogeneity_test,
    leading_classes,
    log_odds_ratio,
    q_values,
)

BoolArray = npt.NDArray[np.bool_]

COUNT, RATE = "count_", "rate_"  # before a class's name: its columns


def imbalance_table(cliques: Cliques, *, confidence: float = 0.95) -> pd.DataFrame:
    """Give the imbalance of every clique, in the order of `cliques`.

    This is the paper's set I (section 3.3) with effect sizes and tests beside it. Balanced cliques
    stay in the table.

    Parameters
    ----------
    cliques : Cliques
        The common cliques with their counts.
    confidence : float
        Of the interval of the log odds ratio, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        One row a clique; the index is the clique's row in `cliques`. NaN where the counts define
        no value, such as a rate in a class without images.

        - ``concepts`` (tuple of str, ascending) and ``size``
        - ``count_<class>`` (int64): images of the class that contain all of the concepts
        - ``rate_<class>``: the same as a share of the class's images
        - ``gap`` (int64): the largest count less the smallest. With two classes it is the paper's
          abs(F_i - F_j); with more, the largest of them (`pairwise_imbalances` gives each)
        - ``over_represented``, ``under_represented`` (category): the classes with these two
          counts, the first in class order among equals; missing where the gap is 0
        - ``lift``: P(X and class) / (P(X) P(class)) for the class with the largest count
        - ``log_odds_ratio``, ``log_odds_ratio_low``, ``log_odds_ratio_high``: natural logarithm,
          over-represented against under-represented class (where the gap is 0, the first class
          against the last), with Woolf's interval
        - ``p_value`` (0 stands for less than 5e-324), ``test`` (category): one rate in all classes;
          see `homogeneity_test`
        - ``q_value``: Benjamini-Hochberg over all rows of the table

    Raises
    ------
    OptionError
        `confidence` is not between 0 and 1.

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[30, 10], [5, 5], [5, 0]]),
    ...     np.array([100, 100]), ("cow", "road"), ("country", "urban"))
    >>> frame = imbalance_table(cliques)
    >>> print(frame[["concepts", "gap", "under_represented", "lift", "test"]])
          concepts  gap under_represented  lift        test
    0       (cow,)   20             urban   1.5  chi-square
    1      (road,)    0               NaN   1.0  chi-square
    2  (cow, road)    5             urban   2.0      fisher
    """
    counts, class_sizes, classes = cliques.counts, cliques.class_sizes, cliques.classes
    over, under = leading_classes(counts)
    gap = counts.max(axis=1) - counts.min(axis=1)
    rates = class_rates(counts, class_sizes)
    odds = log_odds_ratio(counts, class_sizes, over, under, confidence=confidence)
    p_value, test = homogeneity_test(counts, class_sizes)
    return pd.DataFrame(
        {
            "concepts": _names(cliques),
            "size": cliques.sizes(),
            **{COUNT + name: counts[:, code] for code, name in enumerate(classes)},
            **{RATE + name: rates[:, code] for code, name in enumerate(classes)},
            "gap": gap,
            "over_represented": _category(np.where(gap > 0, over, -1), classes),
            "under_represented": _category(np.where(gap > 0, under, -1), classes),
            "lift": class_lift(counts, class_sizes, over),
            "log_odds_ratio": odds[:, 0],
            "log_odds_ratio_low": odds[:, 1],
            "log_odds_ratio_high": odds[:, 2],
            "p_value": p_value,
            "q_value": q_values(p_value),
            "test": _category(test, TESTS),
        }
    )


def pairwise_imbalances(cliques: Cliques) -> pd.DataFrame:
    """Give the paper's I for all pairs of classes: one row a clique and pair.

    Returns
    -------
    pandas.DataFrame
        ``clique`` (the row in `cliques`), ``concepts``, ``class_a``, ``class_b`` (category, in
        class order), ``gap`` = abs(F_a - F_b) and ``under_represented`` (category, missing where
        the gap is 0). n_cliques x n_classes (n_classes - 1) / 2 rows, by clique, then by pair.

    Examples
    --------
    >>> cliques = Cliques(np.array([[0]]), np.array([[3, 0, 5]]), np.array([9, 9, 9]),
    ...                   ("cow",), ("a", "b", "c"))
    >>> print(pairwise_imbalances(cliques).to_string(index=False))
     clique concepts class_a class_b  gap under_represented
          0   (cow,)       a       b    3                 b
          0   (cow,)       a       c    2                 a
          0   (cow,)       b       c    5                 b
    """
    classes = cliques.classes
    pairs = np.array(list(combinations(range(len(classes)), 2)), dtype=np.int64).reshape(-1, 2)
    rows = np.repeat(np.arange(len(cliques)), len(pairs))
    a, b = np.tile(pairs, (len(cliques), 1)).T
    difference = cliques.counts[rows, a] - cliques.counts[rows, b]
    under = np.select([difference < 0, difference > 0], [a, b], default=-1)
    return pd.DataFrame(
        {
            "clique": rows,
            "concepts": _names(cliques).take(rows),
            "class_a": _category(a, classes),
            "class_b": _category(b, classes),
            "gap": np.abs(difference),
            "under_represented": _category(under, classes),
        }
    )


def rank_imbalances(
    frame: pd.DataFrame,
    *,
    by: str = "gap",
    descending: bool = True,
    class_name: str | None = None,
    concepts: Sequence[str] = (),
    min_size: int | None = None,
    max_size: int | None = None,
    max_q_value: float | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Select rows of an imbalance table and sort them by one of its columns.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `imbalance_table`, or a part of it.
    by : str
        A numeric column. Missing values come last; equal values are in order of size, then of
        concepts, whichever the direction.
    descending : bool
        Largest first.
    class_name : str, optional
        Only cliques in which this class is under-represented.
    concepts : sequence of str
        Only cliques that contain all of these.
    min_size, max_size : int, optional
        Only cliques of these sizes, both included.
    max_q_value : float, optional
        Only cliques with at most this q-value. The q-values are not computed anew.
    limit : int, optional
        At most so many rows.

    Returns
    -------
    pandas.DataFrame
        The selected rows with their index, so that it still leads back to the clique.

    Raises
    ------
    UnknownNameError
        No such column, class or concept in `frame`; the message lists those there are.
    OptionError
        A negative `limit`, or `min_size` above `max_size`.

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[30, 10], [5, 25], [5, 5]]),
    ...     np.array([100, 100]), ("cow", "road"), ("country", "urban"))
    >>> frame = imbalance_table(cliques)
    >>> rank_imbalances(frame)["concepts"].tolist()
    [('cow',), ('road',), ('cow', 'road')]
    >>> rank_imbalances(frame, class_name="rural")
    Traceback (most recent call last):
    ...
    graph.errors.UnknownNameError: unknown class 'rural'. Known: country, urban.
    """
    columns = [str(name) for name in frame.columns]
    sortable = [name for name in columns if pd.api.types.is_numeric_dtype(frame[name])]
    if by not in sortable:
        raise UnknownNameError("column to sort by", by, sortable)
    if limit is not None and limit < 0:
        raise OptionError(f"limit is {limit}; give 0 or more rows")
    if min_size is not None and max_size is not None and min_size > max_size:
        raise OptionError(f"min_size is {min_size}, above max_size, which is {max_size}")
    keep = np.ones(len(frame), dtype=bool)
    if class_name is not None:
        classes = [name.removeprefix(COUNT) for name in columns if name.startswith(COUNT)]
        if class_name not in classes:
            raise UnknownNameError("class", class_name, classes)
        keep &= (frame["under_represented"] == class_name).to_numpy()
    if concepts:
        keep &= _containing(frame["concepts"], concepts)
    if min_size is not None:
        keep &= (frame["size"] >= min_size).to_numpy()
    if max_size is not None:
        keep &= (frame["size"] <= max_size).to_numpy()
    if max_q_value is not None:
        keep &= (frame["q_value"] <= max_q_value).to_numpy()
    selected = frame[keep].sort_values(
        [by, "size", "concepts"], ascending=[not descending, True, True], na_position="last"
    )
    return selected if limit is None else selected.head(limit)


def _containing(column: "pd.Series[Any]", concepts: Sequence[str]) -> BoolArray:
    """Mark the rows whose tuple contains all of `concepts`."""
    known: set[str] = set().union(*column)
    for name in concepts:
        if name not in known:
            raise UnknownNameError("concept", name, list(known))
    wanted = frozenset(concepts)
    return np.array([wanted.issubset(row) for row in column], dtype=np.bool_)


def _names(cliques: Cliques) -> "pd.Series[Any]":
    """Give the members of each clique as a column of tuples."""
    return pd.Series(cliques.names(), dtype=object)


def _category(codes: IntArray, names: Sequence[str]) -> "pd.Categorical[str]":
    """Name the codes; -1 is missing."""
    return pd.Categorical.from_codes(codes, pd.Index(list(names)))
