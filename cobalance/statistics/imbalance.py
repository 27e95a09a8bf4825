"""The imbalance of every clique as one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import DataError, FloatArray, IntArray
from cobalance.counting import Cliques
from cobalance.statistics.association import (
    DISAGREEMENTS,
    TESTS,
    class_lift,
    class_rates,
    disagreements,
    leading_classes,
    log_odds_ratio,
    rate_differences,
)
from cobalance.statistics.clustered_tests import clustered_p_values
from cobalance.statistics.q_values import MAX_Q_VALUE, q_values

# They stand before a class's name in the names of its columns.
COUNT, RATE = "count_", "rate_"


def imbalance_table(cliques: Cliques, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the imbalance of every clique, in the order of `cliques`.

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
        - ``clusters``: in how many the clique stands; only where images are in clusters, and the
          statistics below are then by cluster
        - ``count_<class>`` (int64): images of the class that contain all of the concepts
        - ``rate_<class>``: the same as a share of the class's images
        - ``gap`` (int64): the largest count less the smallest. With two classes it is the paper's
          abs(F_i - F_j); with more, the largest of them
        - ``over_represented``, ``under_represented`` (category): the classes with these two
          counts, the first in class order among equals; missing where the gap is 0
        - ``lift``: P(X and class) / (P(X) P(class)) for the class with the largest count
        - ``log_odds_ratio``, ``log_odds_ratio_low``, ``log_odds_ratio_high``: natural logarithm,
          the class ``highest_rate`` against ``lowest_rate`` (where the effect is 0, the first class
          with images against the last), with Woolf's interval for two classes chosen beforehand
        - ``p_value`` (0 stands for less than 5e-324), ``test`` (category): one rate in all classes,
          not only in these two; see `homogeneity_test`
        - ``q_value``: Benjamini-Hochberg over all rows of the table
        - ``leans`` (bool): whether there is evidence, a q-value of at most 0.05
        - ``effect``: the largest rate less the smallest, over classes with images
        - ``highest_rate``, ``lowest_rate`` (category): the classes with these two rates, the first
          in class order among equals, see `rate_differences`; missing where the effect is 0
        - ``disagreement`` (category): where the rates contradict ``under_represented``, in words,
          see `cobalance.statistics.association.disagreements`; missing where they do not

    Raises
    ------
    DataError
        There is no image.
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
    if not classes:
        raise DataError("The dataset has no images. Load some.")

    over, under = leading_classes(counts)
    gap = counts.max(axis=1) - counts.min(axis=1)
    rates = class_rates(counts, class_sizes)
    effect, highest, lowest = rate_differences(counts, class_sizes)

    clustering = cliques.clustering
    design = 1 if clustering is None else clustering.intervals
    odds = log_odds_ratio(
        counts / design, class_sizes / design, highest, lowest, confidence=confidence
    )
    # Equal rates of 100% have no odds, and half an image makes some of them.
    odds -= np.where(effect == 0, odds[:, 0], 0.0)[:, None]
    p_value, test = clustered_p_values(cliques)
    q_value = q_values(p_value)

    clusters = {} if clustering is None else {"clusters": clustering.standing}
    return pd.DataFrame(
        {
            "concepts": pd.Series(cliques.names(), dtype=object),
            "size": cliques.sizes(),
            **clusters,
            **class_columns(COUNT, classes, counts),
            **class_columns(RATE, classes, rates),
            "gap": gap,
            "over_represented": categorical(np.where(gap > 0, over, -1), classes),
            "under_represented": categorical(np.where(gap > 0, under, -1), classes),
            "lift": class_lift(counts, class_sizes, over),
            "log_odds_ratio": odds[:, 0],
            "log_odds_ratio_low": odds[:, 1],
            "log_odds_ratio_high": odds[:, 2],
            "p_value": p_value,
            "q_value": q_value,
            "test": categorical(test, TESTS),
            **evidence_columns(counts, class_sizes, classes, q_value),
        }
    )


def class_columns(
    prefix: str, classes: Sequence[str], values: IntArray | FloatArray
) -> dict[str, Any]:
    """Columns of a value for each class, by a prefix and the class's name."""
    return {prefix + name: values[:, code] for code, name in enumerate(classes)}


def evidence_columns(
    counts: IntArray, class_sizes: IntArray, classes: Sequence[str], q_value: FloatArray
) -> dict[str, Any]:
    """The columns ``leans`` to ``disagreement`` of `imbalance_table`."""
    effect, highest, lowest = rate_differences(counts, class_sizes)
    return {
        "leans": q_value <= MAX_Q_VALUE,
        "effect": effect,
        "highest_rate": categorical(np.where(effect > 0, highest, -1), classes),
        "lowest_rate": categorical(np.where(effect > 0, lowest, -1), classes),
        "disagreement": categorical(disagreements(counts, class_sizes) - 1, DISAGREEMENTS[1:]),
    }


def categorical(codes: IntArray, names: Sequence[str]) -> "pd.Categorical[str]":
    """Name the codes; -1 is missing."""
    return pd.Categorical.from_codes(codes, pd.Index(list(names)))
