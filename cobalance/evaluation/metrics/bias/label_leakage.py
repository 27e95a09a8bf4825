"""Leakage of predicted labels, with attackers trained here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import BoolArray, DataError, FloatArray, InputError, IntArray
from cobalance.evaluation.metrics.bias.attackers import AttackOptions, draw_splits, fit_attacker
from cobalance.evaluation.metrics.bias.labels import (
    AttributeOptions,
    Labels,
    by_attribute,
    check_rows,
    read_indicators,
)
from cobalance.evaluation.metrics.bias.leakage import LeakageScore, difference_of_attackers, leakage
from cobalance.evaluation.metrics.metric import COLUMNS, Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import by_run, number_column
from cobalance.evaluation.predictions import PROBABILITY

ATTACKED = ("leakage_model", "leakage_data")
"""Columns of a table whose attackers' scores are known."""
STEPS = 40  # halvings of the flip rate's interval: beyond the precision of any F1


def label_leakage(
    predicted: Labels,
    labels: Labels,
    groups: Sequence[Any],
    *,
    rng: np.random.Generator,
    options: AttackOptions | None = None,
    test: Sequence[bool] | BoolArray | None = None,
    equal_f1: bool = False,
    score: LeakageScore = "confidence",
) -> pd.DataFrame:
    """Return `leakage` with attackers trained on predictions and on true labels of the same images.

    Parameters
    ----------
    predicted : array or frame, shape (n_images, n_labels), or a label an image
        Of the model: indicators, or scores, which tell an attacker more than the paper's sets of
        objects do.
    labels : labels, shape (n_images, n_labels), or a label an image
        Ground truth.
    groups : sequence, length n_images
        The group of each image; images with None are left out.
    rng : Generator
        Draws, splits and attackers; the same state gives the same scores.
    test : bool array, shape (n_images,), optional
        The images that test the attackers, such as the model's test images beside its training
        images; without it a share of the images, anew in each repeat.
    equal_f1 : bool
        Whether labels are first made as wrong as the model: flipped at random until their macro F1
        is the model's, a single label an image for another one [1]_. Else a model's errors, by
        which it tells less of the group, count as less leakage.
    score
        As for `leakage`.

    Returns
    -------
    frame of scores
        Those of `leakage`, with limits, averaged over repeats: intervals are those of one split,
        since repeats share images. `n` counts the test images of a split.

    Raises
    ------
    DataError
        Shapes or values do not fit, or a group has fewer than three images.
    MissingExtraError
        scikit-learn is not installed.

    References
    ----------
    .. [1] Wang, T. et al., *Balanced datasets are not enough* (ICCV 2019), section 3.2.

    Examples
    --------
    >>> labels, groups = np.tile([[1, 0], [0, 1]], (20, 1)), ["man", "woman"] * 20
    >>> found = label_leakage(labels, np.ones((40, 2)), groups, rng=np.random.default_rng(0))
    >>> found.set_index("metric").loc[["leakage_model", "attacker_accuracy_data"], "value"].round(2)
    metric
    leakage_model             1.0
    attacker_accuracy_data    0.5
    Name: value, dtype: float64
    """
    options = options or AttackOptions()
    truth, forecast = _features(labels, predicted)
    codes, _ = pd.factorize(pd.Series(list(groups), dtype=object), sort=True)
    codes = np.asarray(codes, dtype=np.int64)
    if len(codes) != len(truth):
        raise DataError(
            f"labels has {len(truth)} rows, and {len(codes)} groups are given. Give one for each."
        )
    held_out = None if test is None else np.asarray(test, dtype=np.bool_)
    if held_out is not None and held_out.shape != codes.shape:
        raise DataError(f"test has the shape {held_out.shape}; give a value for each image.")

    is_single = np.ndim(labels) == 1
    goal = macro_f1(truth, (forecast >= 0.5).astype(np.int64)) if equal_f1 else None
    rounds = []
    for split in draw_splits(codes, options, rng, held_out):
        # New errors each time, so that no attacker profits from one draw of them.
        compared = truth if goal is None else make_wrong(truth, goal, rng, single=is_single)
        guesses = []
        for features in (forecast, compared):
            guess = fit_attacker(
                features[split.training], codes[split.training], options.attacker, split.seed
            )
            guesses.append(guess(features[split.test]))
        rounds.append(leakage(guesses[0], codes[split.test], data=guesses[1], score=score))
    return mean_of_rounds(rounds)


def mean_of_rounds(rounds: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The means of the same scores of several rounds."""
    keys = list(COLUMNS[:4])
    return pd.concat(rounds).groupby(keys, sort=False, as_index=False).mean()[list(COLUMNS)]


def make_wrong(
    labels: IntArray, goal: float, rng: np.random.Generator, *, single: bool = False
) -> IntArray:
    """Return labels with errors at random, so that their macro F1 against themselves is a goal.

    Each indicator is flipped with one probability, found by bisection; with a single label an
    image, the label is exchanged for another one. F1 falls in steps, and ends at the step next to
    the goal; a goal below what all errors give ends there.

    Examples
    --------
    >>> labels = np.random.default_rng(0).integers(0, 2, size=(1000, 3))
    >>> wrong = make_wrong(labels, 0.8, np.random.default_rng(1))
    >>> round(macro_f1(labels, wrong), 2)
    0.8
    """
    rows = np.arange(len(labels))
    draws = rng.random(len(labels) if single else labels.shape)
    others = np.zeros_like(labels)
    if single:
        steps = rng.integers(1, max(labels.shape[1], 2), size=len(labels))
        others[rows, (labels.argmax(axis=1) + steps) % labels.shape[1]] = 1

    def flip(rate: float) -> IntArray:
        if single:
            return np.where((draws < rate)[:, None], others, labels)
        return np.where(draws < rate, 1 - labels, labels)

    # F1 falls as the rate rises; at one half, indicators tell nothing any more.
    low, high = 0.0, 1.0 if single else 0.5
    for _ in range(STEPS):
        middle = (low + high) / 2
        if macro_f1(labels, flip(middle)) > goal:
            low = middle
        else:
            high = middle
    return flip(high)


def macro_f1(labels: IntArray, predicted: IntArray) -> float:
    """F1 of each label, averaged over the labels that occur or are predicted.

    Examples
    --------
    >>> labels = np.array([[1, 0], [1, 0], [0, 0]])
    >>> round(macro_f1(labels, np.array([[1, 0], [0, 0], [0, 0]])), 4)
    0.6667
    """
    both = (labels * predicted).sum(axis=0)
    either = labels.sum(axis=0) + predicted.sum(axis=0)
    if not either.any():
        return 1.0
    return float((2 * both[either > 0] / either[either > 0]).mean())


def _features(labels: Labels, predicted: Labels) -> tuple[IntArray, FloatArray]:
    """Indicators of true labels, and predictions of the same labels."""
    if np.ndim(predicted) == 1:
        both = read_indicators(labels=labels, predicted=predicted)
        check_rows(**both)
        return both["labels"].to_numpy(), both["predicted"].to_numpy(np.float64)

    truth = read_indicators(labels=labels)["labels"]
    is_named = isinstance(predicted, pd.DataFrame)
    frame = (
        predicted if isinstance(predicted, pd.DataFrame) else pd.DataFrame(np.asarray(predicted))
    )
    frame = frame.set_axis(list(map(str, frame)), axis=1)
    check_rows(labels=truth, predicted=frame)
    if {*frame} == {*truth}:
        frame = frame[list(truth)]
    elif is_named or frame.shape[1] != truth.shape[1]:
        raise DataError(
            f"predicted has the labels {', '.join(frame.columns)}, and labels has "
            f"{', '.join(truth.columns)}. Give a column for each label in both."
        )

    values: npt.NDArray[np.float64] = frame.to_numpy(np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"predicted, row {row + 1}, column {frame.columns[column]!r} is not finite."
        )
    return truth.to_numpy(), values


class LeakageOptions(AttributeOptions, AttackOptions):
    """Options of the metric leakage.

    Parameters
    ----------
    score : {"confidence", "accuracy", "folded"}
        What an attacker's guess counts; see `cobalance.evaluation.metrics.bias.leakage`.
    equal_f1 : bool
        Whether labels are first made as wrong as the model.
    """

    score: LeakageScore = "confidence"
    equal_f1: bool = False


def _leakage(inputs: Inputs, options: LeakageOptions) -> pd.DataFrame:
    table = inputs.get("table")
    if table is not None and {*ATTACKED} & {*table}:
        return difference_of_attackers(table, "leakage")
    if table is not None:
        return by_run(table, lambda rows: _of_attackers(rows, options))
    return by_attribute(
        inputs,
        options,
        lambda run: label_leakage(
            run.predicted,
            run.labels,
            run.groups.tolist(),
            rng=inputs.generator(),
            options=options,
            equal_f1=options.equal_f1,
            score=options.score,
        ),
    )


def _of_attackers(table: pd.DataFrame, options: LeakageOptions) -> pd.DataFrame:
    measured = [str(name) for name in table if str(name).startswith(PROBABILITY) or name == "n"]
    if "group" not in table or {*measured} <= {"n"}:
        missing = "probabilities p_<group>" if "group" in table else "column group"
        reason = f"has no {missing}; its columns: {', '.join(map(str, table))}"
        either = " and ".join(ATTACKED)
        remedy = f"Add the true group of each row and its p_<group>, or {either}."
        raise InputError("table", None, reason, remedy)

    table = table.assign(**{name: number_column(table, name) for name in measured})
    if "attacker" not in table:
        return leakage(table, score=options.score)

    sides = {str(name): rows for name, rows in table.groupby("attacker")}
    if {*sides} - {"model", "data"} or "model" not in sides:
        reason = f"attacker is {', '.join(sides)}"
        raise InputError("table", None, reason, "Give model for predictions, and data for labels.")
    return leakage(sides["model"], data=sides.get("data"), score=options.score)


PLUGIN = MetricPlugin(
    "leakage",
    "How well groups are told from predicted labels, minus how well from true ones. A table "
    "has an attacker's group and p_<group>; attacker (model or data) and n where it has more; "
    "or leakage_model and leakage_data.",
    extra="evaluate",
    options=LeakageOptions,
    takes=("predictions|table",),
    may_take=("groups",),
    compute=_leakage,
)
