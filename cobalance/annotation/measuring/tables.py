"""Macro means of published tables of scores by attribute."""

from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.annotation.measuring.scores import macro
from cobalance.graph.errors import InputError
from cobalance.ingest.reader import read_start

GROUP, STANDS_FOR = "dataset", "attributes"


def macro_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean over attributes of each column of numbers, for each dataset.

    Parameters
    ----------
    scores : pandas.DataFrame
        A row an attribute; a column of scores a model, and perhaps ``dataset``. A row that is the
        mean of several attributes has their number in ``attributes``, and counts as so many.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``model`` (the column's name), ``macro``, ``attributes`` and ``left_out``
        (without a value), in the table's order.

    Examples
    --------
    >>> macro_table(pd.DataFrame({"attribute": ["a", "b"], "BLIP": [0.5, 0.75]})).values.tolist()
    [['', 'BLIP', 0.625, 2, 0]]
    """
    models = [name for name in scores.select_dtypes(np.number) if name not in (GROUP, STANDS_FOR)]
    if STANDS_FOR in scores:
        rows_of = pd.to_numeric(scores[STANDS_FOR], errors="coerce").fillna(0).clip(lower=0)
        scores = scores.loc[scores.index.repeat(rows_of.astype(int))].reset_index(drop=True)
    groups = scores[GROUP] if GROUP in scores else pd.Series("", index=scores.index)
    rows = [
        (name, model, *macro(of_group[model]))
        for name, of_group in scores.groupby(groups, sort=False)
        for model in models
    ]
    return pd.DataFrame(rows, columns=["dataset", "model", "macro", "attributes", "left_out"])


def read_macro_table(path: Path) -> pd.DataFrame:
    """Read a CSV table of scores, and return `macro_table` of it; InputError if it has none."""
    read_start(path)
    try:
        scores = pd.read_csv(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = f"is no table that can be read ({error})"
        raise InputError(str(path), None, reason, "Save it as CSV.") from error
    found = macro_table(scores)
    if found.empty:
        reason = "has no column of numbers"
        raise InputError(str(path), None, reason, "Write a row an attribute, a column a model.")
    return found
