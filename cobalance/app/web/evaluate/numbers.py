"""Scores as the page shows them: shares in per cent, texts by group."""

import pandas as pd

from cobalance.evaluation.differences import mean_and_sd
from cobalance.evaluation.reports.tables import mean_text

ALL = "all images"
"""What a score of no group is called."""
PERCENT = frozenset(
    {
        "accuracy",
        "group_accuracy",
        "balanced_accuracy",
        "out_of_distribution",
        "worst_group",
        "mean_average_precision",
    }
)
"""Metrics that are shown times 100; shortcut gaps are, too, in points."""


def is_share(metric: str) -> bool:
    """Whether a metric is a share of images, or a difference of shares.

    Examples
    --------
    >>> is_share("worst_group"), is_share("background_gap"), is_share("ratio")
    (True, True, False)
    """
    return metric in PERCENT or metric.endswith("_gap") or metric.startswith("in_distribution")


def cells_of(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Text of means and deviations over seeds: a row for each ``group``, a column a ``run``."""
    bars = mean_and_sd(scores, ("run", "group"))
    texts = [
        mean_text(mean, sd, percent=is_share(metric)) or "-"
        for mean, sd in zip(bars["mean"], bars["sd"], strict=True)
    ]
    runs, groups = (list(dict.fromkeys(bars[name])) for name in ("run", "group"))
    table = bars.assign(text=texts).pivot_table("text", "group", "run", aggfunc="first")
    return table.reindex(index=groups, columns=runs).fillna("")
