"""Bias amplification: whether predictions tie labels and groups closer than the data did."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics.bias.tables import (
    Labels,
    Table,
    aligned_tables,
    check_rows,
    group_shares,
    read_indicators,
)
from cobalance.evaluation.metrics.scores import Score, mean_score, score_rows
from cobalance.graph.arrays import FloatArray
from cobalance.graph.errors import OptionError

Ties = Literal["zero", "negative"]


def mals_amplification(before: Table, after: Table, *, margin: float = 0.05) -> pd.DataFrame:
    """Return how much further predictions lean to each object's majority group than the data did.

    The bias of an object o to a group g is b(o, g), the group's share of the images with o. The
    amplification is (1/|O|) Σ_o Σ_g (b̃(o, g) - b*(o, g)) over the groups with b* > 1/|G|, with b*
    of `before` and b̃ of `after` [1]_ (section 3).

    Parameters
    ----------
    before, after : table, shape (n_objects, n_groups)
        Of training data, and of predictions, or of two trainings: counts (see
        `cobalance.evaluation.metrics.bias.tables.count_table`) or shares, as frames, matched by
        name, or as arrays. A series or list has the shares of the first of two groups.
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
    n_groups = shares.shape[1]
    leans = shares > 1 / n_groups + 1e-12  # a third of 3 is no majority, whatever the rounding
    by_object = np.where(leans, change, 0.0).sum(axis=1)
    beyond = (np.abs(change) > margin + 1e-9).any(axis=1) & known
    n = int(known.sum())
    absolute = _mean(np.abs(change[known]))
    scores = [
        mean_score("mals_amplification", by_object[known]),
        Score("mals_absolute", value=absolute, n=n),
        Score("mals_violations", value=float(beyond.sum()), n=n),
    ]
    for name, value, defined in zip(first.index, by_object, known, strict=True):
        scores.append(
            Score("mals_amplification", str(name), value if defined else np.nan, n=int(defined))
        )
    return score_rows(scores)


def directional_amplification(
    labels: Labels,
    attributes: Labels,
    *,
    predicted_labels: Labels | None = None,
    predicted_attributes: Labels | None = None,
    training_labels: Labels | None = None,
    training_attributes: Labels | None = None,
    ties: Ties = "zero",
) -> pd.DataFrame:
    r"""Return directional bias amplification, from attributes to labels (tasks) and back.

    From attributes to tasks: Δ_at = P(T̂=t | A=a) - P(T=t | A=a), averaged over all pairs as y·Δ,
    where y is 1 if a and t go together in training more often than by chance, and -1 if more
    rarely [1]_ (section 4). From tasks to attributes: Δ_at = P(Â=a | T=t) - P(A=a | T=t).

    Parameters
    ----------
    labels, attributes : labels, shape (n_images, n_labels) or (n_images,)
        Ground truth of test images, as indicators or as a name an image.
    predicted_labels, predicted_attributes : labels, optional
        Predictions for them; each gives one direction.
    training_labels, training_attributes : labels, optional
        Ground truth of training images, for y. Without them it is taken from test images.
    ties : {"zero", "negative"}
        What a pair counts that is exactly independent in training, as all pairs are after
        rebalancing: nothing, as in the authors' code, or -Δ, as in the paper's equation.

    Returns
    -------
    frame of scores
        For each direction, ``attribute_to_task`` and ``task_to_attribute``: the mean; with
        ``_absolute``, the mean of \|Δ\|, which neither ties nor opposite signs can hide; and a
        row of y·Δ for each pair, named ``"attribute → task"`` or ``"task → attribute"``, with the
        images that it is conditioned on as `n`. The means' `n` counts pairs; a pair without
        images is NaN and left out of them.

    Raises
    ------
    OptionError
        Nothing is predicted, or shapes, labels or values do not fit.

    References
    ----------
    .. [1] Wang, A. and Russakovsky, O., *Directional bias amplification* (ICML 2021), section 4.

    Examples
    --------
    The authors' example: 3 images of group a, 5 of group b.

    >>> directional_amplification(
    ...     [[0], [1], [1], [0], [0], [0], [0], [1]],
    ...     ["a"] * 3 + ["b"] * 5,
    ...     predicted_labels=[[1], [1], [1], [0], [0], [0], [0], [0]],
    ... )[["metric", "group", "value", "n"]].round(4)
                           metric  group   value    n
    0           attribute_to_task         0.2667  2.0
    1  attribute_to_task_absolute         0.2667  2.0
    2           attribute_to_task  a → 0  0.3333  3.0
    3           attribute_to_task  b → 0  0.2000  5.0
    """
    if predicted_labels is None and predicted_attributes is None:
        raise OptionError("Nothing is predicted. Give predicted_labels or predicted_attributes.")
    if (training_labels is None) != (training_attributes is None):
        raise OptionError("Give training_labels and training_attributes together.")
    if ties not in ("zero", "negative"):
        raise OptionError(f"ties is {ties!r}; give 'zero' or 'negative'.")
    tasks = read_indicators(
        labels=labels, predicted_labels=predicted_labels, training_labels=training_labels
    )
    members = read_indicators(
        attributes=attributes,
        predicted_attributes=predicted_attributes,
        training_attributes=training_attributes,
    )
    check_rows(**{k: v for k, v in (tasks | members).items() if not k.startswith("training")})
    of_tasks = tasks.get("training_labels", tasks["labels"])
    of_members = members.get("training_attributes", members["attributes"])
    check_rows(training_labels=of_tasks, training_attributes=of_members)
    signs = association_signs(of_members.to_numpy(), of_tasks.to_numpy())
    if ties == "negative":
        signs[signs == 0] = -1
    scores: list[Score] = []
    for metric, given, truth, predicted, turned in (
        ("attribute_to_task", members["attributes"], tasks["labels"], "predicted_labels", signs),
        (
            "task_to_attribute",
            tasks["labels"],
            members["attributes"],
            "predicted_attributes",
            signs.T,
        ),
    ):
        forecast = (tasks | members).get(predicted)
        if forecast is not None:
            scores += _direction(metric, given, truth, forecast, turned)
    return score_rows(scores)


def association_signs(attributes: np.ndarray, tasks: np.ndarray) -> FloatArray:
    """Return 1, 0 or -1 for each pair that goes together more, as, or less often than by chance.

    Counted in whole images, so that independence is exact; images with neither a task nor an
    attribute are left out, as in the authors' code.

    Examples
    --------
    >>> association_signs(np.array([[1, 0], [1, 0], [0, 1]]), np.array([[1], [0], [1]]))
    array([[-1.],
           [ 1.]])
    """
    kept = attributes.any(axis=1) | tasks.any(axis=1)
    attributes, tasks = attributes[kept], tasks[kept]
    together = attributes.T @ tasks * int(kept.sum())
    by_chance = np.outer(attributes.sum(axis=0), tasks.sum(axis=0))
    return np.asarray(np.sign(together - by_chance), dtype=np.float64)


def _direction(
    metric: str,
    given: pd.DataFrame,
    truth: pd.DataFrame,
    predicted: pd.DataFrame,
    signs: FloatArray,
) -> Iterator[Score]:
    conditions = given.to_numpy()
    sizes = conditions.sum(axis=0)
    change = conditions.T @ (predicted.to_numpy() - truth.to_numpy())
    delta = np.divide(
        change, sizes[:, None], out=np.full(change.shape, np.nan), where=sizes[:, None] > 0
    )
    known = ~np.isnan(delta)
    signed = signs * delta + 0.0  # no negative zeros
    n = int(known.sum())
    yield Score(metric, value=_mean(signed[known]), n=n)
    yield Score(f"{metric}_absolute", value=_mean(np.abs(delta[known])), n=n)
    for row, name in enumerate(given):
        for column, other in enumerate(truth):
            pair, value = f"{name} → {other}", float(signed[row, column])
            yield Score(metric, pair, value, n=int(sizes[row]))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else float("nan")
