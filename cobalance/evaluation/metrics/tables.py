"""Tables of published figures, and rows of scores."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import STRING, DataError, FloatArray, InputError, IntArray, group_pairs
from cobalance.evaluation.metrics.metric import score_frame, stack
from cobalance.evaluation.predictions import RUN, runs
from cobalance.evaluation.table_files import ALIASES, missing_column, refuse_cells, whole_cells
from cobalance.statistics import NORMAL_95

SOURCE = "table"
ROUNDING = 0.02  # published shares of two digits add up to 1 within this
MOST_IMAGES = 20_000_000  # of a table of counts, where each becomes a row in memory


def rows_of_table(table: pd.DataFrame) -> Iterator[tuple[tuple[str, int], str]]:
    """Run and group of each row, from the columns method, seed and group where it has them."""
    if not len(table):
        raise InputError(SOURCE, None, "has no rows", "Give one row for each figure.")
    empty = [""] * len(table)
    columns = [table.get(name, empty) for name in (*RUN, "group")]
    for method, seed, group in zip(*columns, strict=True):
        yield (str(method), int(seed or 0)), str(group)


def by_run(table: pd.DataFrame, score: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """Scores of the rows of each method and seed of a table, which may have neither column."""
    if not len(table):
        raise InputError(SOURCE, None, "has no rows", "Give one row for each figure.")

    seeds = whole_cells(table, "seed", SOURCE) if "seed" in table else 0
    methods = table["method"].astype(STRING) if "method" in table else ""

    scores = []
    for method, seed, rows in runs(table.assign(method=methods, seed=seeds)):
        figures = rows.drop(columns=list(RUN)).reset_index(drop=True)
        scores.append(score(figures).assign(method=method, seed=seed))
    return stack(scores)


def text_column(table: pd.DataFrame, name: str, source: str = SOURCE) -> list[str]:
    """A column of names.

    Raises
    ------
    InputError
        It is missing, or a cell is empty.
    """
    column = _column(table, name, source)
    is_empty = column.isna() | (column.astype(STRING).str.strip() == "")
    refuse_cells(is_empty, column, source, "is empty")
    return list(map(str, column))


def number_column(
    table: pd.DataFrame, name: str, source: str = SOURCE, *, least: float = 0
) -> FloatArray:
    """A column of numbers, none below the least; infinite ones are allowed.

    Raises
    ------
    InputError
        It is missing, or a cell is no such number.
    """
    column = _column(table, name, source)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    refuse_cells(np.isnan(values), column, source, "is not a number")
    refuse_cells(values < least, column, source, f"is less than {least:g}")
    return values


def count_column(table: pd.DataFrame, name: str, source: str = SOURCE) -> IntArray:
    """A column of whole numbers of images, as many as fit into memory one by one.

    Raises
    ------
    InputError
        It is missing, a cell is no such number, or they add up to too many.
    """
    values = number_column(table, name, source)
    is_wrong = ~np.isfinite(values) | (values % 1 != 0)
    refuse_cells(is_wrong, table[name], source, "is no number of images")
    if values.sum() > MOST_IMAGES:
        reason = f"{name} adds up to {values.sum():,.0f} images, more than {MOST_IMAGES:,}"
        raise InputError(source, None, reason, "Divide all counts by the same number.")
    return values.astype(np.int64)


def _column(table: pd.DataFrame, name: str, source: str) -> "pd.Series[Any]":
    for alias in (name, *ALIASES.get(name, ())):
        if alias in table:
            return table[alias]
    raise missing_column(name, table, source, "a value for each row")


def captions_by_image(captions: pd.DataFrame, name: str = "references") -> dict[str, list[str]]:
    """The captions of each image, without empty ones.

    Raises
    ------
    DataError
        A column is missing.
    """
    for column in ("image", "caption"):
        if column not in captions:
            raise DataError(
                f"{name} have no column {column}, and have {', '.join(map(str, captions))}. Add it."
            )

    pairs = zip(captions["image"], captions["caption"], strict=True)
    return group_pairs(
        (str(image), str(caption))
        for image, caption in pairs
        if not pd.isna(caption) and str(caption).strip()
    )


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
    table = pd.DataFrame(list(scores), columns=list(Score._fields))
    numbers = table[["value", "low", "high", "n"]].to_numpy(np.float64).T
    metric = table["metric"].astype(STRING)
    return score_frame("", table["group"], *numbers).assign(metric=metric)


def under(name: str, scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with an attribute's name before each group."""
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
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[~np.isnan(numbers)]
    n = len(numbers)
    if n == 0:
        return Score(metric, group)

    mean, half = float(numbers.mean()), float("nan")
    if n > 1:
        half = NORMAL_95 * float(numbers.std(ddof=1)) / n**0.5
    return Score(metric, group, value=mean, low=mean - half, high=mean + half, n=n)
