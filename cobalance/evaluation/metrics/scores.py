"""Rows of scores, and mean scores with intervals."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.evaluation.metrics.metric import score_frame
from cobalance.graph.diagnosis.intervals import NORMAL_95


class Score(NamedTuple):
    """One row of a table of scores.

    Parameters
    ----------
    metric, group : str
        What was measured, and on which images; the empty name for all together.
    value, low, high : float
        The score and its confidence interval; NaN where they are not defined.
    n : float
        How many images, or what else the metric says it counts, the value is of.
    """

    metric: str
    group: str = ""
    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n: float = 0


def score_rows(scores: Iterable[Score]) -> pd.DataFrame:
    """Return scores as a table, with the columns of all metrics.

    Examples
    --------
    >>> score_rows([Score("accuracy", value=0.5, n=4)])
      method  seed    metric group  value  low  high    n
    0            0  accuracy          0.5  NaN   NaN  4.0
    """
    rows = list(scores)
    value, low, high, n = np.array([row[2:] for row in rows], dtype=np.float64).reshape(-1, 4).T
    frame = score_frame("", [row.group for row in rows], value, low, high, n)
    return frame.assign(metric=pd.array([row.metric for row in rows], dtype="str"))


def under(name: str, scores: pd.DataFrame) -> pd.DataFrame:
    """Scores whose groups are those of an attribute, and so begin with its name."""
    return scores.assign(group=name + (": " + scores["group"]).where(scores["group"] != "", ""))


def mean_score(metric: str, values: npt.ArrayLike, *, group: str = "") -> Score:
    """Return a mean and its 95% interval by the normal approximation.

    NaN values are left out, and `n` is the number of the others. The interval is NaN where there
    are fewer than two.

    Examples
    --------
    >>> score_rows([mean_score("distance", [1.0, 3.0, float("nan")])]).iloc[:, 2:].round(2)
         metric group  value   low  high    n
    0  distance          2.0  0.04  3.96  2.0
    """
    found = np.asarray(values, dtype=np.float64)
    found = found[~np.isnan(found)]
    n = len(found)
    if n == 0:
        return Score(metric, group)
    value, half = float(found.mean()), float("nan")
    if n > 1:
        half = NORMAL_95 * float(found.std(ddof=1)) / n**0.5
    return Score(metric, group, value, value - half, value + half, n)
