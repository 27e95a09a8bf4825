"""Evidence of imbalances: the difference of rates, and where counts and rates disagree."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.diagnosis.association import class_rates, leading_classes

EVIDENCE = "evidence"
"""Name of the order that `by_evidence` gives."""
OWN = "own_effect"
"""Name of the order by what is a clique's own, beyond its parts."""
MAX_Q_VALUE = 0.05
"""The largest q-value of a clique that leans to a class."""

DISAGREEMENTS = (
    "",
    "fewer images, higher rate",
    "fewer images, same rate",
    "fewest images, not the lowest rate",
    "as many images, different rates",
    "the class has no images",
)
"""Of the under-represented class, by the codes that `disagreements` returns; empty for none."""


def rate_differences(
    counts: IntArray, class_sizes: IntArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return each clique's largest rate less its smallest, and the classes that have these.

    Classes without images take no part. The differences are exact to the last bit: equal ones
    compare as equal, and with classes of one size they are in the order of the gaps.

    Parameters
    ----------
    counts : int array, shape (n_cliques, n_classes)
        Images of each class that contain the clique.
    class_sizes : int array, shape (n_classes,)
        All images of each class.

    Returns
    -------
    differences : float64 array, shape (n_cliques,)
        As a share of a class, from 0 to 1; 0 where fewer than two classes have images.
    highest, lowest : int64 array, shape (n_cliques,)
        Class codes, the first in class order among equals. Ties are exact: in classes of up to
        2**26 images rates differ as float64 where they differ as fractions. Where all are equal
        neither class leads: highest is then the first class with images and lowest the last.

    Examples
    --------
    >>> found = rate_differences(np.array([[30, 20], [5, 5]]), np.array([100, 50]))
    >>> [part.tolist() for part in found]
    [[0.1, 0.05], [1, 1], [0, 0]]
    """
    rates = class_rates(counts, class_sizes)
    some = class_sizes > 0
    highest = np.where(some, rates, -1.0).argmax(axis=1)
    lowest = np.where(some, rates, 2.0).argmin(axis=1)
    lowest = np.where(highest == lowest, len(some) - 1 - some[::-1].argmax(), lowest)
    rows = np.arange(len(counts))
    of_high, of_low = class_sizes[highest], class_sizes[lowest]
    difference = counts[rows, highest] * of_low - counts[rows, lowest] * of_high
    return difference / np.maximum(of_high * of_low, 1), highest, lowest


def disagreements(counts: IntArray, class_sizes: IntArray) -> npt.NDArray[np.int8]:
    """Return where rates contradict the class that counts call under-represented.

    Counts and rates can only disagree where classes have different numbers of images.

    Returns
    -------
    int8 array, shape (n_cliques,)
        Positions in `DISAGREEMENTS`. A rate is higher or the same beside that of the
        over-represented class; ``"not the lowest"`` only occurs with three or more classes.

    Examples
    --------
    >>> counts = np.array([[30, 20], [30, 10], [20, 10], [5, 5]])
    >>> [DISAGREEMENTS[code] for code in disagreements(counts, np.array([100, 50]))]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['fewer images, higher rate', '', 'fewer images, same rate',
     'as many images, different rates']
    """
    rates = class_rates(counts, class_sizes)
    difference, _, lowest = rate_differences(counts, class_sizes)
    over, under = leading_classes(counts)
    rows = np.arange(len(counts))
    of_over, of_under, least = (rates[rows, codes] for codes in (over, under, lowest))
    balanced = np.ptp(counts, axis=1) == 0
    conditions = [
        balanced & (difference > 0),
        balanced,
        np.isnan(of_under),
        of_under > of_over,
        of_under == of_over,
        of_under > least,
    ]
    return np.select(conditions, [4, 0, 5, 1, 2, 3], 0).astype(np.int8)


def by_evidence(table: pd.DataFrame, *, ascending: bool = False) -> pd.DataFrame:
    """Sort an imbalance table: rows that lean first, each part by its difference of rates.

    Rows that are equal in both stay in their order; `ascending` reverses all but that.

    Examples
    --------
    >>> by_evidence(pd.DataFrame({"leans": [False, True, True], "effect": [0.9, 0.1, 0.2]}))
       leans  effect
    2   True     0.2
    1   True     0.1
    0  False     0.9
    """
    return table.sort_values(["leans", "effect"], ascending=ascending, kind="stable")
