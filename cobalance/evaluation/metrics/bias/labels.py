"""Labels of images and their attributes, such as gender, as bias metrics take them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import STRING, DataError, InputError, OptionError, Options, check_known
from cobalance.evaluation.groups import align_groups, as_text
from cobalance.evaluation.metrics.metric import Inputs, stack
from cobalance.evaluation.metrics.tables import count_column, number_column, under
from cobalance.evaluation.predictions import LABEL, PROBABILITY, class_columns, column_names, runs
from cobalance.evaluation.shortcuts import NONE, STATES, is_shortcut

PREDICTED = "predicted_"
MOST_VALUES = 50
"""Values of a column beside the predictions, above which it is taken for no attribute."""
Labels = pd.DataFrame | pd.Series | npt.ArrayLike
"""Indicators of shape (n_images, n_labels), or a label an image."""


def read_indicators(**given: Labels | None) -> dict[str, pd.DataFrame]:
    """Return labels as frames of 0 and 1, all with the same columns.

    Parameters
    ----------
    **given
        By the name that messages call them, each of shape (n_images, n_labels) with values 0 and
        1, or (n_images,) with a label an image, None where it has none. Those that are None are
        left out.

    Raises
    ------
    DataError
        A value is neither 0 nor 1, or the columns differ.

    Examples
    --------
    >>> read_indicators(groups=["man", None, "woman"])["groups"]
       man  woman
    0    1      0
    1    0      0
    2    0      1
    """
    frames = {
        name: _indicators(labels, name) for name, labels in given.items() if labels is not None
    }
    one_label = [name for name in frames if np.ndim(cast("npt.ArrayLike", given[name])) == 1]

    # Single labels show only the classes that occur: they take the columns of indicators if any.
    columns = next((frames[name].columns for name in frames if name not in one_label), None)
    if columns is None:
        columns = pd.Index(sorted(set(map(str, chain.from_iterable(frames.values())))))
    for name in one_label:
        if {*frames[name]} <= {*columns}:
            frames[name] = frames[name].reindex(columns=columns, fill_value=0)

    first, *others = frames
    first_columns = frames[first].columns
    for name in others:
        columns = frames[name].columns
        if {*columns} != {*first_columns}:
            raise DataError(
                f"{name} has the labels {', '.join(columns)}, and {first} has "
                f"{', '.join(first_columns)}. Give the same labels in both."
            )
        frames[name] = frames[name].reindex(columns=first_columns)
    return frames


def _indicators(labels: Labels, name: str) -> pd.DataFrame:
    if np.ndim(labels) == 1:
        texts = pd.Series(labels, dtype=object).reset_index(drop=True)
        texts = texts.map(str, na_action="ignore")
        return pd.get_dummies(texts, dtype=np.int64)

    frame = labels if isinstance(labels, pd.DataFrame) else pd.DataFrame(np.asarray(labels))
    frame = frame.set_axis(list(map(str, frame)), axis=1).reset_index(drop=True)
    values = frame.to_numpy()
    is_wrong = ~np.isin(values, (0, 1))
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise DataError(
            f"{name}, row {row + 1}, column {frame.columns[column]!r} is {values[row, column]}; "
            "give 0 or 1: scores have to be compared with a threshold first."
        )
    return frame.astype(np.int64)


def check_rows(**frames: pd.DataFrame) -> None:
    """Raise DataError unless all frames have the same number of rows, one an image."""
    first, *others = frames
    for name in others:
        if len(frames[name]) != len(frames[first]):
            raise DataError(
                f"{first} has {len(frames[first])} rows, and {name} has {len(frames[name])}. Give "
                "a row for each image, in the same order."
            )


class Side(NamedTuple):
    """Indicators of labels, or of groups: of test images, as predicted (or None), in training."""

    truth: pd.DataFrame
    predicted: Any
    training: pd.DataFrame


def read_sides(**given: tuple[Labels, Labels | None, Labels | None]) -> list[Side]:
    """Labels and groups by name: of test images, as predicted, and in training.

    The ground truth of the test images stands for that in training where both leave it out.

    Raises
    ------
    OptionError, DataError
        One alone has labels in training, rows differ, or as `read_indicators`.
    """
    if len({training is None for *_, training in given.values()}) > 1:
        raise OptionError(f"Give {' and '.join(f'training_{name}' for name in given)} together.")

    test_frames, training_frames = dict[str, pd.DataFrame](), dict[str, pd.DataFrame]()
    sides = list[Side]()
    for name, labels in given.items():
        keys = name, f"predicted_{name}", f"training_{name}"
        frames = read_indicators(**dict(zip(keys, labels, strict=True)))
        training = frames.pop(keys[2], frames[name])
        training_frames[keys[2]] = training
        test_frames |= frames
        sides.append(Side(frames[name], frames.get(keys[1]), training))

    check_rows(**test_frames)
    check_rows(**training_frames)
    return sides


class AttributeOptions(Options):
    """Options of metrics of one attribute of images, or of several one by one.

    Parameters
    ----------
    attribute : str
        The column of the groups, or of the predictions. By default all but shortcuts, whose states
        are relative to the class.
    threshold : float
        The least score of a predicted label, where an image has several.
    """

    attribute: str = ""
    threshold: float = 0.5


@dataclass(frozen=True, eq=False)
class AttributeRun:
    """One run's predictions for images whose attribute is known.

    Parameters
    ----------
    name : str
        The attribute.
    labels, predicted : frame of 0 and 1, or series of class names
        Ground truth and predictions.
    groups : series
        The attribute's values.
    predicted_groups : series or None
        Predictions of the attribute, from the column ``predicted_<attribute>``.
    training_labels, training_groups
        Ground truth of the training images, or None.
    """

    name: str
    run: tuple[str, int]
    labels: Any
    predicted: Any
    groups: "pd.Series[Any]"
    predicted_groups: "pd.Series[Any] | None" = None
    training_labels: Any = None
    training_groups: "pd.Series[Any] | None" = None


def by_attribute(
    inputs: Inputs, options: AttributeOptions, score: Callable[[AttributeRun], pd.DataFrame]
) -> pd.DataFrame:
    """Scores of each run of the predictions with each attribute."""
    frames = []
    for run in attribute_runs(inputs, options):
        method, seed = run.run
        frames.append(under(run.name, score(run)).assign(method=method, seed=seed))
    return stack(frames)


def attribute_runs(inputs: Inputs, options: AttributeOptions) -> Iterator[AttributeRun]:
    """Each run of the predictions with each attribute, without images of an unknown one.

    Raises
    ------
    InputError
        There is no attribute, an image has none in the groups, or a row stands for a part of an
        image.
    UnknownNameError
        The attribute of the options is not there.
    """
    predictions = inputs.need("predictions")
    table = _attributes(predictions, inputs.get("groups"))
    if options.attribute:
        check_known("attribute", [options.attribute], list(map(str, table)))
        names = [options.attribute]
    else:
        names = [str(name) for name in table if not table[name].isin(STATES).all()]
    if not names:
        reason = "have no attribute of images such as gender, only states of shortcuts"
        raise InputError("groups", None, reason, "Add a column, or name a shortcut as attribute.")

    for method, seed, rows in runs(predictions):
        for name in names:
            groups = table[name].loc[rows.index]
            known = _repeat_rows(rows[groups != NONE])
            known_groups = groups.loc[known.index].reset_index(drop=True)
            known = known.reset_index(drop=True)
            training_labels, training_groups = _training(inputs.get("training"), name)
            yield AttributeRun(
                name=name,
                run=(method, seed),
                labels=true_labels(known, "predictions"),
                predicted=predicted_labels(known, options.threshold),
                groups=known_groups,
                predicted_groups=known.get(PREDICTED + name),
                training_labels=training_labels,
                training_groups=training_groups,
            )


def true_labels(frame: pd.DataFrame, source: str) -> Any:
    """Indicators of the columns ``y_<class>``, or the names in ``class_name``."""
    classes = class_columns(frame, LABEL)
    if classes:
        return frame[column_names(LABEL, classes)].set_axis(classes, axis=1)
    if "class_name" not in frame:
        reason = "has neither a column class_name nor columns y_<class>"
        raise InputError(source, None, reason, "Add the true classes of the images.")
    return frame["class_name"].astype(STRING)


def predicted_labels(predictions: pd.DataFrame, threshold: float) -> Any:
    """Indicators of scores from the threshold on, of labels with ``y_``; or predicted classes."""
    classes = class_columns(predictions, LABEL)
    if not classes:
        return predictions["predicted"].astype(STRING)

    missing = [name for name in classes if PROBABILITY + name not in predictions]
    if missing:
        reason = f"has a column {LABEL}{missing[0]} and no {PROBABILITY}{missing[0]}"
        raise InputError("predictions", None, reason, "Add the scores of every label.")

    scores = predictions[column_names(PROBABILITY, classes)].set_axis(classes, axis=1)
    return (scores >= threshold).astype(np.int64)


def _attributes(predictions: pd.DataFrame, groups: pd.DataFrame | None) -> pd.DataFrame:
    if groups is not None:
        return align_groups(groups, predictions["image"]).set_axis(predictions.index, axis=0)

    names = [
        name
        for name in predictions
        if is_shortcut(str(name)) and predictions[name].nunique() <= MOST_VALUES
    ]
    if not names:
        reason = "has no column of an attribute, and no groups are given"
        raise InputError("predictions", None, reason, "Give groups: image, and a column for each.")
    return as_text(predictions[names])


def _repeat_rows(rows: pd.DataFrame, source: str = "predictions") -> pd.DataFrame:
    return rows.loc[rows.index.repeat(count_column(rows, "n", source))]


def _training(training: pd.DataFrame | None, name: str) -> tuple[Any, Any]:
    if training is None or name not in training:
        return None, None

    known = training[training[name].notna() & ~training[name].isin(("", NONE))]
    if "n" in known:
        known = _repeat_rows(known.reset_index(drop=True), "training")
    for class_name in class_columns(known, LABEL):
        column = LABEL + class_name
        known = known.assign(**{column: number_column(known, column, "training")})
    known = known.reset_index(drop=True)
    return true_labels(known, "training"), known[name].astype(STRING)
