"""Arrange scores of several runs: means over seeds, and a column for each metric."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

RUN = ("train", "training_set", "test", "method")
"""Columns that tell runs apart, but for their seeds."""
SCORE = ("metric", "group")


def summarise(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each metric and group.

    Parameters
    ----------
    scores : pandas.DataFrame
        The columns `RUN` and `SCORE`, ``seed``, ``value``, ``low``, ``high``, ``n`` and
        ``outdated``.

    Returns
    -------
    pandas.DataFrame
        `RUN`, `SCORE`, ``mean``, ``sd`` (with ddof 1, NaN for one seed), ``low`` and ``high`` (of a
        seed, as means), ``seeds``, ``n`` and ``outdated``, in the order of the scores. NaN where a
        seed's value is NaN.
    """
    grouped = scores.groupby([*RUN, *SCORE], sort=False, dropna=False)
    found = grouped.agg(
        mean=("value", lambda values: values.mean(skipna=False)),
        sd=("value", lambda values: values.std(ddof=1, skipna=False)),
        low=("low", lambda values: values.mean(skipna=False)),
        high=("high", lambda values: values.mean(skipna=False)),
        seeds=("seed", "size"),
        n=("n", "first"),
        outdated=("outdated", "any"),
    )
    return found.reset_index()


def arrange(summary: pd.DataFrame, metrics: Sequence[str], *, percent: bool = True) -> pd.DataFrame:
    """One row for each dataset, training set and method, with a column of text for each metric.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `summarise`.
    metrics : sequence of str
        Which; a metric of groups has a column for each.
    percent : bool
        Whether values are shown times 100.

    Examples
    --------
    >>> summary = pd.DataFrame({"train": "D", "training_set": "real", "test": "T", "method": "erm",
    ...     "metric": "worst_group", "group": "", "mean": [.405], "sd": [.02], "low": [.3],
    ...     "high": [.5], "seeds": 3, "n": 100, "outdated": False})
    >>> arrange(summary, ["worst_group"]).iloc[0].to_dict()["worst_group"]
    '40.5 ± 2.0'
    """
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    columns = dict.fromkeys([*RUN, "seeds"])
    for score in summary[summary["metric"].isin(list(metrics))].to_dict("records"):
        run = tuple("" if pd.isna(score[name]) else score[name] for name in RUN)
        row = rows.setdefault(run, {**dict(zip(RUN, run, strict=True)), "seeds": score["seeds"]})
        name = f"{score['metric']}, {score['group']}" if score["group"] else str(score["metric"])
        columns[name] = None
        row[name] = mean_text(score["mean"], score["sd"], percent=percent)
        if score["outdated"]:
            row["outdated"] = "yes"
    if any("outdated" in row for row in rows.values()):
        columns["outdated"] = None
    texts = [[row.get(name, "") for name in columns] for row in rows.values()]
    return pd.DataFrame(texts, columns=list(columns))


def mean_text(mean: float, sd: float, *, percent: bool = True) -> str:
    """A mean with its standard deviation as text; nothing for NaN.

    Examples
    --------
    >>> mean_text(.7345, .012), mean_text(.5, float("nan")), mean_text(1.25, .5, percent=False)
    ('73.5 ± 1.2', '50.0', '1.250 ± 0.500')
    """
    if np.isnan(mean):
        return ""
    factor, digits = (100, 1) if percent else (1, 3)
    text = f"{mean * factor:.{digits}f}"
    return text if np.isnan(sd) else f"{text} ± {sd * factor:.{digits}f}"
