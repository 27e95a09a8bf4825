"""Tables of predictions: reading, checking, and completing what may be left out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from graph.errors import InputError
from ingest.concepts.plurals import counted
from ingest.reader import read_head

PROBABILITY, LABEL = "p_", "y_"  # before a class's name: its columns
RUN = ("method", "seed")
OTHER = "another class"  # what is predicted where only the accuracy of a row is known

ALIASES: Mapping[str, tuple[str, ...]] = {
    "image": ("image_id", "id"),
    "class_name": ("class", "label"),
    "predicted": ("prediction", "pred", "predicted_class"),
}
"""Other names of columns, by ours."""
PERCENT = "accuracy_percent"
COLUMNS = ("image", "class_name", "predicted", *RUN, "n", "accuracy", PERCENT)

_MOST_IMAGES = 2**53  # above, float64 has no whole numbers any more
_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__")
_POINT = r"\.0+$"
_WHOLE = r"-?\d+\.0+"  # a whole number that is a float, or was one where the text was written
_SHOWN = 3  # ids or values that a message names


def read_predictions(path: str | Path) -> pd.DataFrame:
    """Read a table of predictions from CSV, TSV or Parquet; see `check_predictions`.

    Raises
    ------
    InputError
        The file or its content cannot be used.
    """
    return check_predictions(read_frame(path), str(path))


def read_frame(path: str | Path, content: str = "predictions") -> pd.DataFrame:
    """Read CSV, TSV or Parquet; cells of CSV and TSV stay text, so that no name becomes a number.

    Raises
    ------
    InputError
        The file cannot be read or decoded.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    head = read_head(path, content)
    try:
        if head.startswith(b"PAR1"):
            frame: pd.DataFrame = pq.read_table(path).to_pandas(ignore_metadata=True)
            return _without_index(frame)
        first = head.lstrip().splitlines()[0]
        separator = max(",;\t", key=lambda one: first.count(one.encode()))
        frame = pd.read_csv(
            path, sep=separator, dtype="str", keep_default_na=False, encoding="utf-8-sig"
        )
        return _without_index(frame)
    except (pa.ArrowException, ValueError) as error:  # pandas' parser and decoding errors, too
        reason = f"cannot be read as a table ({' '.join(str(error).split()).rstrip('.')})"
        remedy = "Save it as CSV in UTF-8 with one line of column names, or as Parquet."
        raise InputError(str(path), None, reason, remedy) from error


def _without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop what pandas writes of an index without a name: it would pass for figures or groups."""
    return frame.loc[:, [_INDEX.fullmatch(str(name)) is None for name in frame]]


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
    frame = _without_index(frame.rename(columns=str)).reset_index(drop=True)
    frame = lower_names(frame, COLUMNS)
    _refuse_double_columns(frame, source)
    frame = frame.rename(columns=_renamed(frame))
    counted = "n" in frame
    if not len(frame):
        raise InputError(source, None, "has no rows", "Give one row for each predicted image.")
    if not counted and "image" not in frame:
        raise _missing("image", frame, source, "ids of the images, or a column n with counts")
    if "image" not in frame:
        frame["image"] = [f"row {row}" for row in range(1, len(frame) + 1)]
    frame["method"] = _text(frame, "method", source) if "method" in frame else ""
    frame["seed"] = _whole(frame, "seed", source) if "seed" in frame else 0
    frame["n"] = _numbers(frame, "n", source, least=0) if counted else 1.0
    _refuse(frame["n"] > _MOST_IMAGES, frame["n"], source, "is more images than can be counted")
    for column in frame.columns:
        if column.startswith(PROBABILITY):
            frame[column] = _numbers(frame, column, source)
        elif column.startswith(LABEL):
            if not pd.api.types.is_numeric_dtype(frame[column]):  # what pandas writes of booleans
                frame[column] = frame[column].replace({"True": 1, "False": 0})
            frame[column] = _numbers(frame, column, source)
            _refuse(~frame[column].isin((0, 1)), frame[column], source, "is neither 0 nor 1")
    probable = [PROBABILITY + name for name in class_columns(frame)]
    labelled = bool(class_columns(frame, LABEL))
    given = "predicted" in frame and "class_name" in frame
    if PERCENT in frame and "accuracy" not in frame:
        percent = _numbers(frame, PERCENT, source, least=0)
        _refuse(percent > 100, frame[PERCENT], source, "is more than 100")
        frame = frame.assign(accuracy=percent / 100).drop(columns=PERCENT)
    if "accuracy" in frame and "class_name" in frame and not (probable or given):
        frame = _from_accuracy(frame, counted, source)
    if "class_name" not in frame and not labelled:
        raise _missing("class_name", frame, source, "the classes of the images")
    if "predicted" not in frame and not labelled:
        if not probable:
            what = "the predicted classes, or columns p_<class> with their probabilities"
            raise _missing("predicted", frame, source, what)
        best = frame[probable].to_numpy().argmax(axis=1)
        frame["predicted"] = np.array(class_columns(frame), dtype=object)[best]
    for column in ("image", "class_name", "predicted"):
        if column in frame:
            frame[column] = _text(frame, column, source)
    if given:
        _refuse_other_names(frame, source)
    if not counted:
        twice = frame.duplicated([*RUN, "image"])
        if twice.any():
            row = int(np.flatnonzero(twice)[0])
            method, seed, image = frame.loc[row, [*RUN, "image"]]
            reason = f"the image {image!r} is predicted twice by method {method!r}, seed {seed}"
            remedy = (
                "Keep one of them, tell runs apart with the columns method and seed, or "
                "give counts in a column n."
            )
            raise InputError(source, f"row {row + 1}", reason, remedy)
    first = [name for name in ("image", "class_name", "predicted", *RUN, "n") if name in frame]
    return frame[[*first, *(name for name in frame.columns if name not in first)]]


def runs(predictions: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """The method, the seed and the rows of each run, in the order of their first rows."""
    for (method, seed), rows in predictions.groupby(list(RUN), sort=False):
        yield str(method), cast("int", seed), rows


def class_columns(predictions: pd.DataFrame, prefix: str = PROBABILITY) -> list[str]:
    """The classes that have a column with the prefix ``p_`` or ``y_``, in the table's order."""
    return [str(name).removeprefix(prefix) for name in predictions if str(name).startswith(prefix)]


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
    found = pd.Index(known).get_indexer(pd.Index(images))
    if (found < 0).any():
        unknown = images[found < 0].unique()
        names = ", ".join(repr(name) for name in unknown[:_SHOWN])
        more = f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""
        reason = f"names {counted(len(unknown), 'images')} missing from {where}: {names}{more}"
        if (found < 0).all() and len(known):
            reason += f"; there, ids are such as {str(known.iloc[0])!r}"
        raise InputError(source, None, reason, f"Add them to {where}, or leave their rows out.")
    return found


def lower_names(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Rename columns such as Image or N that are known names, or aliases of one, but for capitals.

    Examples
    --------
    >>> list(lower_names(pd.DataFrame(columns=["Image_ID", "N", "P_Cat"]), COLUMNS))
    ['image_id', 'n', 'P_Cat']
    """
    known = {alias for name in names for alias in (name, *ALIASES.get(name, ()))}
    lower = {name: str(name).lower() for name in frame if str(name).lower() in known}
    return frame.rename(columns={old: new for old, new in lower.items() if new not in frame})


def _renamed(frame: pd.DataFrame) -> dict[str, str]:
    """Other names of columns that stand for one of ours which is not there."""
    columns = set(frame.columns)
    return {
        alias: name
        for name, aliases in ALIASES.items()
        if name not in columns
        for alias in [next((one for one in aliases if one in columns), None)]
        if alias is not None
    }


def _refuse_double_columns(frame: pd.DataFrame, source: str) -> None:
    double = frame.columns[frame.columns.duplicated()]
    if len(double):
        reason = f"has two columns {double[0]!r}"
        raise InputError(source, None, reason, "Rename or remove one of them.")


def _missing(column: str, frame: pd.DataFrame, source: str, what: str) -> InputError:
    there = ", ".join(str(name) for name in frame.columns) or "none"
    reason = f"has no column {column}; its columns: {there}"
    return InputError(source, None, reason, f"Add {column}: {what}.")


def _refuse(wrong: Any, column: "pd.Series[Any]", source: str, reason: str) -> None:
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        value = column.iloc[[row]].tolist()[0]
        count = f" ({int(wrong.sum()):,} rows are so)" if wrong.sum() > 1 else ""
        remedy = f"Correct the column {column.name}, or leave such rows out."
        raise InputError(
            source, f"row {row + 1}", f"{column.name} is {value!r}, which {reason}{count}", remedy
        )


def _numbers(
    frame: pd.DataFrame, name: str, source: str, least: float = -np.inf
) -> "pd.Series[float]":
    values = pd.to_numeric(frame[name], errors="coerce").astype(np.float64)
    _refuse(~np.isfinite(values), frame[name], source, "is not a finite number")
    _refuse(values < least, frame[name], source, f"is less than {least:g}")
    return values


def _whole(frame: pd.DataFrame, name: str, source: str) -> "pd.Series[int]":
    values = _numbers(frame, name, source)
    _refuse(values != np.floor(values), frame[name], source, "is not a whole number")
    return values.astype(np.int64)


def names_text(names: "pd.Series[Any]") -> "pd.Series[str]":
    """Names as text; whole numbers that are floats, such as classes 0.0 and 1.0, without a point.

    Examples
    --------
    >>> names_text(pd.Series(["3.0", "12.0"])).tolist()
    ['3', '12']
    """
    text = names.astype("str")
    whole = text.str.fullmatch(_WHOLE).all()
    return text.str.replace(_POINT, "", regex=True) if whole else text


def _text(frame: pd.DataFrame, name: str, source: str) -> "pd.Series[str]":
    """A column of names as text, none of them empty."""
    column = frame[name]
    _refuse(column.isna(), column, source, "is empty")
    text = names_text(column)
    if name != "method":
        _refuse(text.str.strip() == "", frame[name], source, "is empty")
    return text


def _refuse_other_names(frame: pd.DataFrame, source: str) -> None:
    """InputError where no prediction is right for classes being spelled in two ways."""
    classes, predicted = sorted({*frame["class_name"]}), sorted({*frame["predicted"]})
    if {*classes} & {*predicted} or not {*map(_alike, classes)} & {*map(_alike, predicted)}:
        return
    shown = [", ".join(repr(one) for one in names[:_SHOWN]) for names in (predicted, classes)]
    reason = f"no predicted class ({shown[0]}) is the class of an image ({shown[1]})"
    raise InputError(source, None, reason, "Spell classes alike in both columns.")


def _alike(name: str) -> str:
    folded = name.strip().casefold()
    return {"true": "1", "false": "0"}.get(folded, folded)


def _from_accuracy(frame: pd.DataFrame, counted: bool, source: str) -> pd.DataFrame:
    """Two rows for each accuracy: the images that are right, and those that are wrong."""
    if not counted:
        raise _missing("n", frame, source, "how many images each accuracy stands for")
    right = _numbers(frame, "accuracy", source, least=0)
    _refuse(right > 1, frame["accuracy"], source, f"is more than 1: name percentages {PERCENT}")
    frame = frame.drop(columns="accuracy")
    hits = frame.assign(predicted=frame["class_name"], n=frame["n"] * right)
    misses = frame.assign(predicted=OTHER, n=frame["n"] * (1 - right))
    return pd.concat([hits, misses], ignore_index=True)
