"""MaxSkew and NDKL from shares of groups, such as a paper's."""

from typing import Any

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics.scores import mean_score, score_rows
from cobalance.evaluation.metrics.tables import ROUNDING, count_column, number_column, text_column
from cobalance.graph.arrays import FloatArray
from cobalance.graph.errors import InputError


def skew_of_shares(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return ``max_skew`` or ``ndkl`` from the shares of groups among the best images.

    Parameters
    ----------
    table : frame
        ``group``, ``share`` (or counts) and ``parity``, by default the same for all groups; of
        several rankings ``query``, and of several lengths ``k``. ``ndkl`` needs the shares among
        the best 1, 2, ... k. A share of 0 adds nothing.

    Raises
    ------
    InputError
        A column is missing or cannot be used, shares or parities do not add up, or lengths are left
        out.
    """
    groups = text_column(table, "group")
    n_groups = len({*groups})
    frame = pd.DataFrame(
        {
            "group": groups,
            "share": number_column(table, "share"),
            "fair": number_column(table, "parity") if "parity" in table else 1 / n_groups,
            "query": text_column(table, "query") if "query" in table else "",
            "k": count_column(table, "k") if "k" in table else 0,
        }
    )
    twice = frame.duplicated(["query", "k", "group"])
    if twice.any():
        row = int(twice.to_numpy().argmax())
        reason = f"the group {groups[row]!r} has a second share"
        remedy = "Keep one, or tell rankings apart with query and k."
        raise InputError("table", f"row {row + 1}", reason, remedy)
    if metric == "ndkl":
        values = [_ndkl(str(query), rows) for query, rows in frame.groupby("query", sort=False)]
        return score_rows([mean_score("ndkl", values)])
    rows_of = frame.groupby(["k", "query"], sort=False)
    found: dict[Any, list[float]] = {}
    for (k, _), rows in rows_of:
        share, fair = _shares(rows)
        found.setdefault(k, []).append(float(np.log(share / fair).max()))
    return score_rows(
        [mean_score(f"max_skew@{k}" if k else "max_skew", one) for k, one in found.items()]
    )


def _ndkl(query: str, rows: pd.DataFrame) -> float:
    lengths = sorted(rows["k"].unique())
    if lengths != [*range(1, len(lengths) + 1)]:
        reason = f"has no shares among the best 1, 2, ... images{f' of {query!r}' if query else ''}"
        remedy = "Give a column k with each number from 1, or choose max_skew."
        raise InputError("table", None, reason, remedy)
    weights = 1 / np.log2(np.array(lengths) + 1)
    divergences = []
    for _, of_length in rows.groupby("k"):
        share, fair = _shares(of_length)
        divergences.append(float(share @ np.log(share / fair)))
    return float(divergences @ weights / weights.sum())


def _shares(rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Shares and fair shares of the groups that are there."""
    share, fair = (rows[name].to_numpy(np.float64) for name in ("share", "fair"))
    where = f"row {rows.index[0] + 1}"
    if not 0 < share.sum() < np.inf:
        raise InputError("table", where, "shares add up to nothing", "Give shares or counts.")
    if fair.sum() > 1 + ROUNDING:  # counts
        fair = fair / fair.sum()
    there = share > 0
    if not (fair[there] > 0).all():
        reason = "a group that is there has no parity"
        raise InputError("table", where, reason, "Give fair shares that add up to 1.")
    if abs(share.sum() - 1) > ROUNDING:
        share = share / share.sum()
    return share[there], fair[there]
