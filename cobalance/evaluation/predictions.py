"""Read, check and complete tables of predictions."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from cobalance.base import InputError, inflect
from cobalance.evaluation import table_files

PROBABILITY, LABEL = "p_", "y_"  # before a class's name: its columns
RUN = ("method", "seed")
OTHER = "another class"  # what is predicted where only the accuracy of a row is known
PERCENT = "accuracy_percent"
COLUMNS = ("image", "class_name", "predicted", *RUN, "n", "accuracy", PERCENT)

_MOST_IMAGES = 2**53  # above, float64 has no whole numbers any more
_SHOWN = 3  # ids or values that a message names


def read_predictions(path: str | Path) -> pd.DataFrame:
    """Read a table of predictions from CSV, TSV or Parquet; see `check_predictions`.

    Raises
    ------
    InputError
        The file or its content cannot be used.
    """
    return check_predictions(table_files.read_frame(path), str(path))


def check_predictions(frame: pd.DataFrame, source: str = "predictions") -> pd.DataFrame:
    """Validated predictions, complete and with one type a column.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row an image, method and seed.

        - ``image``: its id (``image_id`` or ``id`` do as well).
        - ``class_name``: its class (or ``class``, ``label``).
        - ``predicted``: the class that was predicted (or ``prediction``, ``pred``); where it is
          left out, the one with the largest ``p_<class>``, the first among equals.
        - ``p_<class>``: probability or score of a class.
        - ``y_<class>``: with several labels an image, 1 where it has the label and 0 elsewhere, in
          place of ``class_name`` and ``predicted``.
        - ``seed`` and ``method``: of the run; 0 and no name where left out.
        - ``n``: how many images a row stands for, as in a confusion table; an image may then have
          several rows, and ``image`` may be left out. It may be a fraction, as where a published
          share is multiplied by the size of a test set.
        - ``accuracy``: in place of ``predicted``, the share of a row's ``n`` images that are right;
          ``accuracy_percent`` for percentages.

        Names of these columns may have capitals. Other columns stay as they are.
    source : str
        What messages call the table.

    Returns
    -------
    pandas.DataFrame
        ``image``, ``class_name``, ``predicted`` and ``method`` as text, ``seed`` int64, ``n``
        float64, ``p_<class>`` and ``y_<class>`` float64; index 0 and on.

    Raises
    ------
    InputError
        A column is missing, a cell is empty or not a number, a score is not finite, or a run has
        two predictions for one image.

    Examples
    --------
    >>> table = pd.DataFrame({"id": [7, 8], "label": ["cat", "dog"],
    ...                       "p_cat": [.6, .7], "p_dog": [.4, .3]})
    >>> check_predictions(table)[["image", "class_name", "predicted", "n"]]
      image class_name predicted    n
    0     7        cat       cat  1.0
    1     8        dog       cat  1.0
    """
    frame = _standard_columns(frame, source)
    columns, is_counted = list(map(str, frame)), "n" in frame
    is_pair = "predicted" in frame and "class_name" in frame

    _fill_runs(frame, source)
    _convert_scores(frame, source)
    if PERCENT in frame and "accuracy" not in frame:
        percent = table_files.number_cells(frame, PERCENT, source, least=0)
        table_files.refuse_cells(percent > 100, frame[PERCENT], source, "is more than 100")
        frame = frame.assign(accuracy=percent / 100).drop(columns=PERCENT)

    # An accuracy beside predictions or probabilities is a column like any other.
    is_predicted = is_pair or bool(class_columns(frame))
    if "accuracy" in frame and "class_name" in frame and not is_predicted:
        frame = _from_accuracy(frame, is_counted, source)
    if not class_columns(frame, LABEL):
        _fill_predicted(frame, columns, source)

    for column in ("image", "class_name", "predicted"):
        if column in frame:
            frame[column] = table_files.text_cells(frame, column, source)
    if is_pair:
        _refuse_other_names(frame, source)
    if not is_counted:
        table_files.refuse_rows(
            frame.duplicated([*RUN, "image"]),
            source,
            lambda row: (
                f"the image {frame['image'][row]!r} is predicted twice by method "
                f"{frame['method'][row]!r}, seed {frame['seed'][row]}"
            ),
            "Keep one of them, tell runs apart with the columns method and seed, or "
            "give counts in a column n.",
        )

    leading = [name for name in ("image", "class_name", "predicted", *RUN, "n") if name in frame]
    return frame[[*leading, *frame.columns.drop(leading)]]


def _standard_columns(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """A copy with index 0 and on, whose columns have our names; InputError without rows or ids."""
    frame = table_files.without_index(frame.rename(columns=str)).reset_index(drop=True)
    frame = table_files.lower_names(frame, COLUMNS)
    table_files.refuse_double_columns(frame, source)
    frame = frame.rename(columns=table_files.known_names(frame))

    if not len(frame):
        raise InputError(source, None, "has no rows", "Give one row for each predicted image.")
    if "n" not in frame and "image" not in frame:
        raise table_files.missing_column(
            "image", frame, source, "ids of the images, or a column n with counts"
        )
    return frame


def _fill_runs(frame: pd.DataFrame, source: str) -> None:
    """Add image, method, seed and n where they are left out, and give each its type."""
    if "image" not in frame:
        frame["image"] = list(map("row {}".format, range(1, len(frame) + 1)))
    frame["method"] = table_files.text_cells(frame, "method", source) if "method" in frame else ""
    frame["seed"] = table_files.whole_cells(frame, "seed", source) if "seed" in frame else 0
    frame["n"] = table_files.number_cells(frame, "n", source, least=0) if "n" in frame else 1.0
    table_files.refuse_cells(
        frame["n"] > _MOST_IMAGES, frame["n"], source, "is more images than can be counted"
    )


def _convert_scores(frame: pd.DataFrame, source: str) -> None:
    """Make the columns ``p_<class>`` and ``y_<class>`` float64, the latter of 0 and 1 alone."""
    for column in frame.columns:
        if column.startswith(PROBABILITY):
            frame[column] = table_files.number_cells(frame, column, source)
        elif column.startswith(LABEL):
            # Booleans that pandas wrote to CSV come back as text.
            if not pd.api.types.is_numeric_dtype(frame[column]):
                frame[column] = frame[column].replace({"True": 1, "False": 0})
            frame[column] = table_files.number_cells(frame, column, source)
            is_wrong = ~frame[column].isin((0, 1))
            table_files.refuse_cells(is_wrong, frame[column], source, "is neither 0 nor 1")


def _fill_predicted(frame: pd.DataFrame, columns: list[str], source: str) -> None:
    """Add the class with the largest score as the predicted one, where none is named.

    Messages list those of the columns that the table came with.
    """
    if "class_name" not in frame:
        raise table_files.missing_column(
            "class_name", frame.filter(columns), source, "the classes of the images"
        )

    if "predicted" not in frame:
        classes = class_columns(frame)
        if not classes:
            content = "the predicted classes, or columns p_<class> with their probabilities"
            raise table_files.missing_column("predicted", frame.filter(columns), source, content)
        scores = frame[column_names(PROBABILITY, classes)].to_numpy()
        frame["predicted"] = np.array(classes, dtype=object)[scores.argmax(axis=1)]


def runs(predictions: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """The method, the seed and the rows of each run, in the order of their first rows."""
    for (method, seed), rows in predictions.groupby(list(RUN), sort=False):
        yield str(method), cast("int", seed), rows


def class_columns(predictions: pd.DataFrame, prefix: str = PROBABILITY) -> list[str]:
    """The classes that have a column with the prefix ``p_`` or ``y_``, in the table's order."""
    return [str(name).removeprefix(prefix) for name in predictions if str(name).startswith(prefix)]


def column_names(prefix: str, classes: Iterable[str]) -> list[str]:
    """The columns of some classes, by the prefix ``p_`` or ``y_``."""
    return [prefix + name for name in classes]


def require_classes(predictions: pd.DataFrame, what: str) -> None:
    """Raise InputError unless each row has one class and one predicted class."""
    for column in ("class_name", "predicted"):
        if column not in predictions:
            reason = f"{what} needs one class an image, and the table has no column {column}"
            raise InputError("predictions", None, reason, "Add it, or choose another metric.")


def known_rows(
    images: "pd.Series[Any]", known: "pd.Series[Any]", source: str, where: str = "groups"
) -> Any:
    """Position in `known` of each image.

    Raises
    ------
    InputError
        An image is not among the known ones.
    """
    rows = pd.Index(known).get_indexer(pd.Index(images))
    is_unknown = rows < 0
    if is_unknown.any():
        unknown = images[is_unknown].unique()
        names = ", ".join(map(repr, unknown[:_SHOWN]))
        if len(unknown) > _SHOWN:
            names += f" and {len(unknown) - _SHOWN:,} more"
        reason = f"names {inflect(len(unknown), 'images')} missing from {where}: {names}"
        if is_unknown.all() and len(known):
            reason += f"; there, ids are such as {str(known.iloc[0])!r}"
        raise InputError(source, None, reason, f"Add them to {where}, or leave their rows out.")
    return rows


def _refuse_other_names(frame: pd.DataFrame, source: str) -> None:
    """InputError where no prediction is right for classes being spelled in two ways."""
    classes, predicted = sorted({*frame["class_name"]}), sorted({*frame["predicted"]})
    if {*classes} & {*predicted} or not {*map(_alike, classes)} & {*map(_alike, predicted)}:
        return

    predicted_names = ", ".join(map(repr, predicted[:_SHOWN]))
    class_names = ", ".join(map(repr, classes[:_SHOWN]))
    reason = f"no predicted class ({predicted_names}) is the class of an image ({class_names})"
    raise InputError(source, None, reason, "Spell classes alike in both columns.")


def _alike(name: str) -> str:
    folded = name.strip().casefold()
    return {"true": "1", "false": "0"}.get(folded, folded)


def _from_accuracy(frame: pd.DataFrame, counted: bool, source: str) -> pd.DataFrame:
    """Two rows for each accuracy: right images and wrong ones."""
    if not counted:
        raise table_files.missing_column(
            "n", frame, source, "how many images each accuracy stands for"
        )
    accuracy = table_files.number_cells(frame, "accuracy", source, least=0)
    table_files.refuse_cells(
        accuracy > 1, frame["accuracy"], source, f"is more than 1: name percentages {PERCENT}"
    )

    frame = frame.drop(columns="accuracy")
    hits = frame.assign(predicted=frame["class_name"], n=frame["n"] * accuracy)
    misses = frame.assign(predicted=OTHER, n=frame["n"] * (1 - accuracy))
    return pd.concat([hits, misses], ignore_index=True)
