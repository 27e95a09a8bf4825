"""Scores as the page shows them: runs with short names, means over seeds, texts by group."""

from collections.abc import Sequence

import pandas as pd

from app.services.evaluations.summaries import label_of
from evaluation.reports.tables import mean_text
from graph.evaluations.reading import Evaluation

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


def run_labels(found: Sequence[Evaluation]) -> dict[str, str]:
    """What each evaluation's run is called, by id: only what tells runs apart is said."""
    same = []
    for names in ({one.train for one in found}, {one.training_set for one in found}):
        same += list(names) if len(names) == 1 else []
    return {one.id: label_of(one, [name for name in same if name]) for one in found}


def bars_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of one metric's scores.

    Parameters
    ----------
    scores : pandas.DataFrame
        ``run``, ``group``, ``seed``, ``value``, ``low``, ``high``, ``n`` and ``outdated``.

    Returns
    -------
    pandas.DataFrame
        ``run``, ``group``, ``mean``, ``low``, ``high`` (of a seed, as means), ``sd``, ``seeds``,
        ``n`` and ``outdated``, in the order of the scores; the mean is NaN where a seed's is.
    """
    grouped = scores.groupby(["run", "group"], sort=False)
    found = grouped.agg(
        mean=("value", lambda values: values.mean(skipna=False)),
        low=("low", lambda values: values.mean(skipna=False)),
        high=("high", lambda values: values.mean(skipna=False)),
        sd=("value", lambda values: values.std(ddof=1, skipna=False)),
        seeds=("seed", "size"),
        n=("n", "first"),
        outdated=("outdated", "any"),
    )
    return found.reset_index()


def cells_of(bars: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Text of each group's mean and deviation: a row for each group, a column for each run."""
    texts = [
        mean_text(mean, sd, percent=is_share(metric)) or "-"
        for mean, sd in zip(bars["mean"], bars["sd"], strict=True)
    ]
    runs, groups = (list(dict.fromkeys(bars[name])) for name in ("run", "group"))
    table = bars.assign(text=texts).pivot_table(
        "text", "group", "run", aggfunc="first", fill_value=""
    )
    return table.reindex(index=groups, columns=runs).fillna("")
