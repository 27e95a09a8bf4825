"""Accuracy by group: of each group, the mean over groups, the worst, and without shortcuts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base import BoolArray, FloatArray, Options
from cobalance.evaluation.groups import By, Grouping, group_rows
from cobalance.evaluation.metrics.metric import (
    MetricPlugin,
    score_frame,
    stack,
    with_left_out,
)
from cobalance.evaluation.predictions import runs
from cobalance.statistics import proportions, sum_interval


@dataclass(frozen=True, eq=False)
class GroupAccuracy:
    """The accuracy of one run in each group.

    Parameters
    ----------
    run : tuple of str and int
        Method and seed.
    accuracy, low, high, n : float64 arrays, shape (n_groups,)
        Accuracy and Wilson's interval, NaN for groups without images, and how many images.
    """

    run: tuple[str, int]
    grouping: Grouping
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    n: FloatArray

    def with_left_out(self, scores: pd.DataFrame) -> pd.DataFrame:
        """Scores, and below them how many images are in no group."""
        return with_left_out(scores, self.n[~self.grouping.known].sum(), run=self.run)

    def score_sum(
        self,
        metric: str,
        group: str,
        coefficients: FloatArray,
        needs: BoolArray | None = None,
    ) -> pd.DataFrame:
        """The score of a sum over groups; NaN where a group that it needs has no images.

        By default it needs those whose coefficient is not 0.
        """
        needs = coefficients != 0 if needs is None else needs
        n = self.n[needs].sum()
        if not needs.any() or np.isnan(self.accuracy[needs]).any():
            return score_frame(metric, group, np.nan, n=n, run=self.run)

        low, high = sum_interval(coefficients, self.accuracy, self.low, self.high)
        # Accuracies that do not count may be NaN, and 0 times NaN is NaN.
        used = coefficients != 0
        value = float(coefficients[used] @ self.accuracy[used])
        return score_frame(metric, group, value, low, high, n, run=self.run)

    def score_pooled(self, metric: str, groups: BoolArray, confidence: float) -> pd.DataFrame:
        """The score of the images of some groups together, each image counting once."""
        hits = np.nansum(np.where(groups, self.n * self.accuracy, 0))
        n = self.n[groups].sum()
        return score_frame(metric, "", *proportions(hits, n, confidence), n, run=self.run)


def accuracy_of_runs(
    predictions: pd.DataFrame,
    groups: pd.DataFrame | None,
    confidence: float = 0.95,
    by: By = "group",
) -> Iterator[GroupAccuracy]:
    """The accuracy in each group, run by run; all runs have the same groups."""
    predictions = predictions.reset_index(drop=True)
    grouping = group_rows(predictions, groups, by)
    right = (predictions["class_name"] == predictions["predicted"]).to_numpy()
    n = predictions["n"].to_numpy()

    for method, seed, rows in runs(predictions):
        positions = rows.index.to_numpy()
        run_groups = Grouping(grouping.table, grouping.codes[positions])
        sizes = run_groups.sums(n[positions])
        hits = run_groups.sums(n[positions] * right[positions])
        yield GroupAccuracy(
            (method, seed), run_groups, *proportions(hits, sizes, confidence), n=sizes
        )


def group_accuracy(
    predictions: pd.DataFrame, groups: pd.DataFrame | None = None, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Accuracy of each group of class and shortcuts, with Wilson's interval.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `cobalance.evaluation.predictions.check_predictions`.
    groups : pandas.DataFrame or None
        As `cobalance.evaluation.groups.group_rows` takes them.

    Returns
    -------
    pandas.DataFrame
        Scores of each run, in the columns of `cobalance.evaluation.metrics.metric.COLUMNS`; a group
        without images has NaN and n 0. Images of unknown attribute are left out, and counted below.

    Examples
    --------
    >>> from cobalance.evaluation.predictions import check_predictions
    >>> table = pd.DataFrame({"class_name": ["urban"] * 2, "predicted": ["urban", "country"],
    ...                       "n": [40, 60], "background": ["uncommon"] * 2})
    >>> scores = group_accuracy(check_predictions(table))
    >>> scores[["group", "value", "low", "high", "n"]].round(4)
                            group  value     low   high      n
    0    urban, background common    NaN     NaN    NaN    0.0
    1  urban, background uncommon    0.4  0.3094  0.498  100.0
    """
    scores = []
    for run in accuracy_of_runs(predictions, groups, confidence):
        columns = (run.accuracy, run.low, run.high, run.n)
        run_scores = score_frame("group_accuracy", run.grouping.names, *columns, run=run.run)
        scores.append(run.with_left_out(run_scores[run.grouping.known]))
    return stack(scores)


def accuracy(predictions: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Share of all images that are right."""
    return stack(
        run.score_pooled("accuracy", run.n > 0, confidence)
        for run in accuracy_of_runs(predictions, None, confidence, "class")
    )


def balanced_accuracy(
    predictions: pd.DataFrame,
    groups: pd.DataFrame | None = None,
    *,
    by: By = "group",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Mean accuracy over groups that have images, each counting once; see `group_accuracy`.

    ConBias calls the accuracy on a test set of equal groups class-balanced (section 4.1); where
    groups are unequal, as in Waterbirds, this is what that accuracy would be.

    Parameters
    ----------
    by : str
        ``"group"`` for groups of class and shortcuts, ``"class"`` for classes.
    """
    return stack(
        run.with_left_out(run.score_sum("balanced_accuracy", "", _mean(run)))
        for run in accuracy_of_runs(predictions, groups, confidence, by)
    )


def out_of_distribution(
    predictions: pd.DataFrame, groups: pd.DataFrame | None = None, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Accuracy on the images of which every shortcut is uncommon, each image counting once.

    ConBias section 4.1: the test set of counterfactual concepts, such as landbirds on water.
    """
    return stack(
        run.score_pooled(
            "out_of_distribution",
            run.grouping.in_state(*run.grouping.need_shortcuts("out_of_distribution")),
            confidence,
        )
        for run in accuracy_of_runs(predictions, groups, confidence)
    )


def worst_group(
    predictions: pd.DataFrame,
    groups: pd.DataFrame | None = None,
    *,
    by: By = "group",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of the worst group that has images.

    The interval is that of this group alone: the least of many groups lies below its true value
    more often than above it. `group_accuracy` names the groups.

    Parameters
    ----------
    by : str
        As in `balanced_accuracy`.
    """
    scores = []
    for run in accuracy_of_runs(predictions, groups, confidence, by):
        known = np.where(run.grouping.known, run.accuracy, np.nan)
        # Without images in any group, the worst is the position past the last: no group at all.
        worst = int(np.nanargmin(np.append(known, np.inf)))
        coefficients = (np.arange(len(run.accuracy)) == worst).astype(np.float64)
        scores.append(run.with_left_out(run.score_sum("worst_group", "", coefficients)))
    return stack(scores)


def _mean(run: GroupAccuracy) -> FloatArray:
    used = (run.n > 0) & run.grouping.known
    return np.asarray(used / max(used.sum(), 1), dtype=np.float64)


class AccuracyOptions(Options):
    """Options of accuracies.

    Parameters
    ----------
    confidence : float
        Of the intervals, between 0 and 1.
    """

    confidence: float = Field(default=0.95, gt=0, lt=1)


class ByOptions(AccuracyOptions):
    """Options of accuracies over groups.

    Parameters
    ----------
    by : str
        ``"group"`` for groups of class and shortcuts, ``"class"`` for classes.
    """

    by: Literal["group", "class"] = "group"


def _plugin(
    function: Callable[..., pd.DataFrame], purpose: str, options: type[Options]
) -> MetricPlugin:
    return MetricPlugin(
        function.__name__,
        purpose,
        options=options,
        takes=("predictions",),
        may_take=("groups",),
        compute=lambda inputs, chosen: function(
            inputs.need("predictions"), inputs.get("groups"), **chosen.model_dump()
        ),
    )


PLUGINS = (
    MetricPlugin(
        "accuracy",
        "Share of all images that are right.",
        options=AccuracyOptions,
        takes=("predictions",),
        compute=lambda inputs, options: accuracy(
            inputs.need("predictions"), confidence=options.confidence
        ),
    ),
    _plugin(group_accuracy, "Accuracy of each group of class and shortcuts.", AccuracyOptions),
    _plugin(balanced_accuracy, "Mean accuracy over groups, or over classes.", ByOptions),
    _plugin(out_of_distribution, "Accuracy where every shortcut is uncommon.", AccuracyOptions),
    _plugin(worst_group, "Accuracy of the group with the least.", ByOptions),
)
