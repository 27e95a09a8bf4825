"""Opportunity gap: how far recall differs between groups of people, summed over classes."""

from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import InputError
from cobalance.evaluation.groups import align_groups
from cobalance.evaluation.metrics.group_accuracy import AccuracyOptions
from cobalance.evaluation.metrics.metric import (
    Inputs,
    MetricPlugin,
    score_frame,
    stack,
    with_left_out,
)
from cobalance.evaluation.metrics.tables import number_column, rows_of_table, text_column
from cobalance.evaluation.predictions import RUN, require_classes, runs
from cobalance.evaluation.shortcuts import NONE
from cobalance.evaluation.table_files import refuse_rows
from cobalance.statistics import newcombe


def opportunity_gap(recalls: pd.DataFrame) -> pd.DataFrame:
    """Sum over classes of how far recall differs between groups.

    Pinpoint Counterfactuals, section 5.4 and table 8, after equality of opportunity (Hardt et al.,
    2016): for two groups the absolute difference, for more groups the largest minus the smallest.

    Parameters
    ----------
    recalls : pandas.DataFrame
        ``class_name``, ``group`` and ``recall``, and ``method`` and ``seed`` where there are
        several runs. The sum has the unit of the recalls, which is percent in the paper.

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``recall_difference`` of each class (with two groups the first name's
        recall minus the second's), ``opportunity_gap``, and ``classes_without_recall``: how many
        lack the recall of a group, and are left out.

    Raises
    ------
    InputError
        A column is missing, a recall is not a number, or there are less than two groups.

    Examples
    --------
    >>> recalls = pd.DataFrame({"class_name": ["nurse"] * 2 + ["farmer"] * 2,
    ...                         "group": ["M", "W"] * 2, "recall": [12.5, 20.0, 78.12, 74.22]})
    >>> opportunity_gap(recalls)[["metric", "group", "value"]].round(2)
                       metric   group  value
    0       recall_difference  farmer    3.9
    1       recall_difference   nurse   -7.5
    2         opportunity_gap           11.4
    3  classes_without_recall            0.0
    """
    table = pd.DataFrame(
        {
            "run": [run for run, _ in rows_of_table(recalls)],
            "class_name": text_column(recalls, "class_name"),
            "group": text_column(recalls, "group"),
            "recall": number_column(recalls, "recall"),
        }
    )
    refuse_rows(
        table.duplicated(["run", "class_name", "group"]),
        "table",
        lambda _: "has a second recall of its class and group",
        "Keep one, or tell runs apart.",
    )

    return stack(
        _gap(_by_group(rows, "recall"), run) for run, rows in table.groupby("run", sort=False)
    )


def _by_group(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Sums of a column of each class in each known group."""
    sums = rows.pivot_table(column, "class_name", "group", aggfunc="sum")
    return sums.drop(columns=NONE, errors="ignore")


def _gap(
    recalls: pd.DataFrame, run: Any, attribute: str = "", limits: Any = (np.nan, np.nan)
) -> pd.DataFrame:
    """Scores of one run from a table of classes by groups."""
    if len(recalls.columns) < 2:
        reason = "has less than two groups to compare"
        raise InputError("groups", None, reason, "Give the recall of each class in each group.")

    # The difference of two groups has a sign; of more, it is their range.
    values = recalls.to_numpy()
    differences = np.ptp(values, axis=1) if values.shape[1] > 2 else values[:, 0] - values[:, 1]
    left_out = np.isnan(differences)
    total = np.nan if left_out.all() else np.abs(differences[~left_out]).sum()

    prefix = f"{attribute}: " if attribute else ""
    names = [prefix + str(name) for name in recalls.index]
    return stack(
        [
            score_frame("recall_difference", names, differences, *limits, run=run),
            score_frame("opportunity_gap", attribute, total, run=run),
            score_frame("classes_without_recall", attribute, left_out.sum(), run=run),
        ]
    )


def opportunity_gap_of_predictions(
    predictions: pd.DataFrame, groups: pd.DataFrame, *, confidence: float = 0.95
) -> pd.DataFrame:
    """`opportunity_gap` in percentage points from predictions, for each attribute of the groups.

    With two groups, differences of recall have Newcombe's interval. Images of an unknown attribute
    are left out, and counted.
    """
    require_classes(predictions, "recall")
    predictions = predictions.reset_index(drop=True)
    attributes = align_groups(groups, predictions["image"])
    right = predictions["n"] * (predictions["class_name"] == predictions["predicted"])
    table = predictions[["class_name", *RUN, "n"]].assign(right=right)

    scores = []
    for name in attributes:
        for method, seed, rows in runs(table.assign(group=attributes[name])):
            run, n_unknown = (method, seed), rows["n"][rows["group"] == NONE].sum()
            hits, sizes = _by_group(rows, "right"), _by_group(rows, "n")

            limits: Any = (np.nan, np.nan)
            if len(sizes.columns) == 2:
                hits_1, hits_2 = hits.fillna(0).to_numpy().T
                n_1, n_2 = sizes.fillna(0).to_numpy().T
                low, high = newcombe(hits_1, n_1, hits_2, n_2, confidence)
                limits = 100 * low, 100 * high
            gap = _gap(100 * hits / sizes.where(sizes > 0), run, str(name), limits)
            scores.append(with_left_out(gap, n_unknown, str(name), run=run))
    return stack(scores)


def _opportunity_gap(inputs: Inputs, options: Any) -> pd.DataFrame:
    predictions = inputs.get("predictions")
    if predictions is None:
        return opportunity_gap(inputs.need("table"))
    return opportunity_gap_of_predictions(
        predictions, inputs.need("groups"), confidence=options.confidence
    )


PLUGIN = MetricPlugin(
    "opportunity_gap",
    "Sum over classes of the difference of recall between groups. A table has class_name, "
    "group and recall.",
    options=AccuracyOptions,
    takes=("predictions|table", "groups|table"),
    compute=_opportunity_gap,
)
