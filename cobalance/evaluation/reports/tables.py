"""Arrange means over seeds of several runs with a column for each metric."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

RUN = ("train", "training_set", "test", "method", "settings")
"""Columns that tell runs apart, but for their seeds."""
SCORE = ("metric", "group")


def arrange(summary: pd.DataFrame, metrics: Sequence[str], *, percent: bool = True) -> pd.DataFrame:
    """One row for each run, with a column of text for each metric.

    Parameters
    ----------
    summary : pandas.DataFrame
        Means by `RUN` and `SCORE`, from `cobalance.evaluation.differences.mean_and_sd`.
    metrics : sequence of str
        Which; a metric of groups has a column for each.
    percent : bool
        Whether values are shown times 100.

    Examples
    --------
    >>> summary = pd.DataFrame({"train": "D", "training_set": "real", "test": "T", "method": "erm",
    ...     "settings": "linear", "metric": "worst_group", "group": "", "mean": [.405], "sd": [.02],
    ...     "seeds": 3, "outdated": False})
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
