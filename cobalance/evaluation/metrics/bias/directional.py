"""Directional bias amplification: from groups to labels, and back."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, InputError, OptionError, check_known
from cobalance.evaluation.metrics.bias.labels import (
    AttributeOptions,
    Labels,
    Side,
    by_attribute,
    read_sides,
)
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, stack
from cobalance.evaluation.metrics.tables import Score, by_run, count_column, score_rows, text_column
from cobalance.evaluation.shortcuts import NONE
from cobalance.evaluation.table_files import refuse_rows

Ties = Literal["zero", "negative"]
DIRECTIONS = {
    "predicted": ("attribute", "task", "predicted_labels"),
    "predicted_attribute": ("task", "attribute", "predicted_attributes"),
}
"""What each column of predictions is conditioned on, what it predicts, and as which argument."""


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
    check_known("ties", [ties], get_args(Ties))

    tasks, members = read_sides(
        labels=(labels, predicted_labels, training_labels),
        attributes=(attributes, predicted_attributes, training_attributes),
    )
    signs = association_signs(members.training.to_numpy(), tasks.training.to_numpy())
    # A pair that is exactly independent is negative in the paper's equation, 0 in its code.
    if ties == "negative":
        signs[signs == 0] = -1

    scores: list[Score] = []
    if tasks.predicted is not None:
        scores += _direction("attribute_to_task", members, tasks, signs)
    if members.predicted is not None:
        scores += _direction("task_to_attribute", tasks, members, signs.T)
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
    is_labelled = attributes.any(axis=1) | tasks.any(axis=1)
    attributes, tasks = attributes[is_labelled], tasks[is_labelled]
    together = attributes.T @ tasks * int(is_labelled.sum())
    by_chance = np.outer(attributes.sum(axis=0), tasks.sum(axis=0))
    return np.asarray(np.sign(together - by_chance), dtype=np.float64)


def _direction(metric: str, source: Side, target: Side, signs: FloatArray) -> Iterator[Score]:
    conditions = source.truth.to_numpy()
    sizes = conditions.sum(axis=0)
    change = conditions.T @ (target.predicted.to_numpy() - target.truth.to_numpy())
    delta = np.divide(
        change, sizes[:, None], out=np.full(change.shape, np.nan), where=sizes[:, None] > 0
    )
    known = ~np.isnan(delta)
    # Adding 0.0 makes zeros of negative zeros.
    signed = signs * delta + 0.0

    n = int(known.sum())
    yield Score(metric, value=_mean(signed[known]), n=n)
    yield Score(f"{metric}_absolute", value=_mean(np.abs(delta[known])), n=n)
    for row, name in enumerate(source.truth):
        for column, target_name in enumerate(target.truth):
            pair, value = f"{name} → {target_name}", float(signed[row, column])
            yield Score(metric, pair, value, n=int(sizes[row]))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else float("nan")


def directional_of_counts(table: pd.DataFrame, ties: Ties = "zero") -> pd.DataFrame:
    """Return `directional_amplification` from joint counts of attributes and tasks.

    Parameters
    ----------
    table : frame
        A row for each pair, with ``attribute`` and ``task`` (``none`` for images without one), and
        counts of images: ``test``, by ground truth, and ``predicted``, by attribute and predicted
        task, or ``predicted_attribute``, by predicted attribute and task, or both; and
        ``training``, by ground truth of training images, by default that of the test images. Pairs
        without a row have no images.

    Raises
    ------
    InputError
        A column is missing, a pair is there twice, a cell is no count, or another number of images
        is predicted than there are.

    Examples
    --------
    The authors' example: 3 images of group a, 5 of group b.

    >>> table = pd.DataFrame({"attribute": list("aabb"), "task": ["cook", "none"] * 2,
    ...                       "test": [2, 1, 1, 4], "predicted": [3, 0, 0, 5]})
    >>> directional_of_counts(table)[["metric", "group", "value"]].round(4).head(1)
                  metric group   value
    0  attribute_to_task        0.2667
    """
    pairs = pd.DataFrame({name: text_column(table, name) for name in ("attribute", "task")})
    refuse_rows(
        pairs.duplicated(),
        "table",
        lambda row: " and ".join(map(repr, pairs.iloc[row])) + " are there twice",
        "Keep one row.",
    )
    predicted = [name for name in DIRECTIONS if name in table]
    if not predicted:
        reason = f"has no column {' or '.join(DIRECTIONS)}"
        raise InputError("table", None, reason, "Add how many images are predicted to be of each.")

    columns = ["test", *predicted]
    if "training" in table:
        columns.append("training")
    counts = pairs.assign(**{name: count_column(table, name) for name in columns})
    training = _repeat_rows(counts, "training" if "training" in table else "test")

    frames = []
    for column in predicted:
        condition, target, argument = DIRECTIONS[column]
        _check_sizes(counts, condition, column)
        # Any image of a condition may have any of its predictions: only their numbers matter.
        ordered = counts.sort_values(condition, kind="stable")
        truth, guessed = _repeat_rows(ordered, "test"), _repeat_rows(ordered, column)
        frames.append(
            directional_amplification(
                _labels(truth["task"]),
                _labels(truth["attribute"]),
                **{argument: _labels(guessed[target])},
                training_labels=_labels(training["task"]),
                training_attributes=_labels(training["attribute"]),
                ties=ties,
            )
        )
    return stack(frames)


def _check_sizes(counts: pd.DataFrame, condition: str, column: str) -> None:
    """InputError unless as many images of each condition are predicted as are in the test set."""
    sizes = counts.groupby(condition)[["test", column]].sum()
    differs = sizes["test"] != sizes[column]
    if differs.any():
        name = str(differs.idxmax())
        n, n_predicted = sizes.loc[name].astype(int)
        reason = f"{name!r} has {n:,} images in test, and {n_predicted:,} in {column}"
        raise InputError("table", None, reason, "Give a prediction of each test image.")


def _repeat_rows(counts: pd.DataFrame, name: str) -> pd.DataFrame:
    return counts.loc[counts.index.repeat(counts[name])].reset_index(drop=True)


def _labels(names: "pd.Series[Any]") -> "pd.Series[Any]":
    """A label an image, None for none."""
    labels = names.astype(object)
    return labels.where(labels != NONE, None)


class DirectionalOptions(AttributeOptions):
    """Options of the metric directional_amplification.

    Parameters
    ----------
    ties : {"zero", "negative"}
        What a pair that is independent in training counts: nothing, or -Δ.
    """

    ties: Ties = "zero"


def _directional(inputs: Inputs, options: DirectionalOptions) -> pd.DataFrame:
    table = inputs.get("table")
    if table is not None:
        return by_run(table, lambda rows: directional_of_counts(rows, options.ties))
    return by_attribute(
        inputs,
        options,
        lambda run: directional_amplification(
            run.labels,
            run.groups,
            predicted_labels=run.predicted,
            predicted_attributes=run.predicted_groups,
            training_labels=run.training_labels,
            training_attributes=run.training_groups,
            ties=options.ties,
        ),
    )


PLUGIN = MetricPlugin(
    "directional_amplification",
    "Bias amplification from groups to labels, and back where groups are predicted. A table "
    "has counts: attribute, task, test, predicted or predicted_attribute, and training.",
    options=DirectionalOptions,
    takes=("predictions|table",),
    may_take=("groups", "training"),
    compute=_directional,
)
