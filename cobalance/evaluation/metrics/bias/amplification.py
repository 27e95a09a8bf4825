"""Bias amplification: whether predictions lean to majority groups more than the data did."""

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base import OptionError
from cobalance.evaluation.metrics.bias.labels import AttributeOptions, AttributeRun, by_attribute
from cobalance.evaluation.metrics.bias.object_tables import (
    Table,
    aligned_tables,
    before_and_after,
    count_table,
    group_shares,
)
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import Score, by_run, mean_score, score_rows


def mals_amplification(before: Table, after: Table, *, margin: float = 0.05) -> pd.DataFrame:
    """Return how much further predictions lean to each object's majority group than the data did.

    The bias of an object o to a group g is b(o, g), the group's share of the images with o. The
    amplification is (1/|O|) Σ_o Σ_g (b̃(o, g) - b*(o, g)) over the groups with b* > 1/|G|, with b*
    of `before` and b̃ of `after` [1]_ (section 3).

    Parameters
    ----------
    before, after : table, shape (n_objects, n_groups)
        Of training data, and of predictions, or of two trainings: counts (see
        `cobalance.evaluation.metrics.bias.object_tables.count_table`) or shares, as frames, matched
        by name, or as arrays. A series or list has the shares of the first of two groups.
    margin : float
        An object violates it where any group's share changes by more.

    Returns
    -------
    frame of scores
        ``mals_amplification``: the mean over objects, and a row for each object; ``mals_absolute``:
        the mean of all |b̃ - b*|, which balanced objects do not hide from; ``mals_violations``: how
        many objects violate the margin. `n` counts objects.

    Raises
    ------
    OptionError
        A value is not a count or share, or the tables are of other objects or groups.

    Notes
    -----
    An object without images in either table is left out of the mean and stays as a row of NaN,
    where the code of [2]_ counts it as a change of 0. An object exactly at 1/|G| for all groups,
    as after rebalancing, cannot add to the mean.

    References
    ----------
    .. [1] Zhao, J. et al., *Men also like shopping: Reducing gender bias amplification using
       corpus-level constraints* (EMNLP 2017), section 3; the margin is of section 4.
    .. [2] Wang, A. and Russakovsky, O., *Directional bias amplification* (ICML 2021), its code.

    Examples
    --------
    >>> mals_amplification([[30, 10]], [[36, 8]])[["metric", "group", "value", "n"]].round(4)
                   metric group   value    n
    0  mals_amplification        0.0682  1.0
    1       mals_absolute        0.0682  1.0
    2     mals_violations        1.0000  1.0
    3  mals_amplification     0  0.0682  1.0
    """
    if not 0 <= margin <= 1:
        raise OptionError(f"margin is {margin}; give a difference of shares from 0 to 1.")
    first, second = aligned_tables(before, after)
    shares, later = group_shares(first), group_shares(second)
    change = later - shares
    known = np.asarray(~np.isnan(change).any(axis=1))

    # A third of 3 is no majority, however the share is rounded.
    leans = shares > 1 / shares.shape[1] + 1e-12
    by_object = np.where(leans, change, 0.0).sum(axis=1)
    by_object[~known] = np.nan
    violates = (np.abs(change) > margin + 1e-9).any(axis=1) & known
    n = int(known.sum())
    absolute = float(np.abs(change[known]).mean()) if n else np.nan

    scores = [
        mean_score("mals_amplification", by_object[known]),
        Score("mals_absolute", value=absolute, n=n),
        Score("mals_violations", value=float(violates.sum()), n=n),
    ]
    for name, value in zip(first.index, by_object, strict=True):
        scores.append(Score("mals_amplification", str(name), value, n=int(not np.isnan(value))))
    return score_rows(scores)


class MalsOptions(AttributeOptions):
    """Options of the metric mals_amplification.

    Parameters
    ----------
    margin : float
        The largest change of a group's share that violates nothing.
    """

    margin: float = Field(default=0.05, ge=0, le=1)


def _mals(inputs: Inputs, options: MalsOptions) -> pd.DataFrame:
    margin = options.margin
    table = inputs.get("table")
    if table is not None:
        return by_run(
            table, lambda rows: mals_amplification(*before_and_after(rows), margin=margin)
        )
    return by_attribute(
        inputs, options, lambda run: mals_amplification(*_of_predictions(run), margin=margin)
    )


def _of_predictions(run: AttributeRun) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images of each class and group, in training and as predicted."""
    if run.training_groups is None:
        before = count_table(run.labels, run.groups)
    else:
        before = count_table(run.training_labels, run.training_groups)
    guessed = run.groups if run.predicted_groups is None else run.predicted_groups
    after = count_table(run.predicted, guessed)

    return before.align(after, fill_value=0)


PLUGIN = MetricPlugin(
    "mals_amplification",
    "How much further predictions lean to each object's majority group than the data did. A "
    "table has object, group, before and after, as counts or shares.",
    options=MalsOptions,
    takes=("predictions|table",),
    may_take=("groups", "training"),
    compute=_mals,
)
