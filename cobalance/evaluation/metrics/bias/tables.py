"""Inputs of bias metrics: tables of objects by groups, and indicators of labels."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.graph.arrays import FloatArray
from cobalance.graph.errors import OptionError

Table = pd.DataFrame | pd.Series | npt.ArrayLike | Mapping[str, Sequence[float]]
"""Objects by groups: a frame, an array, lists, or columns by name."""
Labels = pd.DataFrame | pd.Series | npt.ArrayLike
"""Indicators of shape (n_images, n_labels), or a label an image."""

ROUNDING = 0.02  # published shares of two digits add up to 1 within this


def read_table(table: Table, name: str) -> pd.DataFrame:
    """Return a table of objects by groups as a frame of float64, with names as text.

    Parameters
    ----------
    table : table
        Counts, or shares of each object's groups; a column of text names the objects. A series,
        or a plain list, has the shares of the first of two groups.
    name : str
        What the table is, for messages.

    Raises
    ------
    OptionError
        A value is negative, NaN or infinite, or there are fewer than two groups.

    Examples
    --------
    >>> read_table([[30, 10]], "before")
          0     1
    0  30.0  10.0
    >>> read_table(pd.Series({"cooking": 0.25}), "before").loc["cooking"].tolist()
    [0.25, 0.75]
    """
    if isinstance(table, Mapping | pd.DataFrame):
        frame = pd.DataFrame(table)
    else:
        frame = _one_share(table, name) if np.ndim(table) == 1 else pd.DataFrame(np.asarray(table))
    text = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    if len(text) == 1 and len(frame.columns) > 1:
        frame = frame.set_index(text[0])
    frame = frame.set_axis([str(one) for one in frame.index], axis=0)
    frame = frame.set_axis([str(one) for one in frame.columns], axis=1)
    if len(frame.columns) < 2:
        raise OptionError(f"{name} has {len(frame.columns)} groups; give a column for each of two.")
    for what, names in (("row", frame.index), ("column", frame.columns)):
        if not names.is_unique:
            twice = names[names.duplicated()][0]
            raise OptionError(f"{name} has the {what} {twice!r} twice. Name each once.")
    try:
        frame = frame.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name} has a value that is no number: {error}.") from error
    values = frame.to_numpy()
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise OptionError(
            f"{name}, row {frame.index[row]!r}, column {frame.columns[column]!r} is "
            f"{values[row, column]}; give counts or shares from 0."
        )
    return frame


def _one_share(values: pd.Series | npt.ArrayLike, name: str) -> pd.DataFrame:
    shares = pd.Series(values, dtype=np.float64)
    if not shares.between(0, 1).all():
        raise OptionError(
            f"{name} has one column, and {float(shares.max())} in it. Give the first group's share "
            "of each object, from 0 to 1, or a column for each group."
        )
    return pd.DataFrame({"0": shares, "1": 1 - shares})


def group_shares(table: pd.DataFrame) -> FloatArray:
    """Return the share of each group in each object, shape (n_objects, n_groups).

    A row that adds up to 1, within the rounding of published tables, is taken as it is. Rows of
    zeros are NaN.

    Examples
    --------
    >>> group_shares(read_table([[30, 10], [0.67, 0.34], [0, 0]], "before"))
    array([[0.75, 0.25],
           [0.67, 0.34],
           [ nan,  nan]])
    """
    values = table.to_numpy()
    sums = values.sum(axis=1, keepdims=True)
    sums[np.abs(sums - 1) <= ROUNDING] = 1
    with np.errstate(invalid="ignore"):
        return np.asarray(values / sums, dtype=np.float64)


def aligned_tables(before: Table, after: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read two tables and return them with rows and columns in the order of the first.

    Names count where both tables have them, and order where one is without.

    Raises
    ------
    OptionError
        One table has objects or groups that the other lacks, or another shape.
    """
    first, second = read_table(before, "before"), read_table(after, "after")
    objects_named = all(isinstance(one, pd.DataFrame | pd.Series) for one in (before, after))
    if not objects_named and len(first) == len(second):
        second.index = first.index = second.index if _names_groups(after) else first.index
    if first.shape[1] == second.shape[1]:
        if not _names_groups(after):
            second.columns = first.columns
        elif not _names_groups(before):
            first.columns = second.columns
    for what, ours, theirs in (
        ("objects", first.index, second.index),
        ("groups", first.columns, second.columns),
    ):
        missing = [*ours.difference(theirs), *theirs.difference(ours)]
        if missing:
            raise OptionError(
                f"before and after differ in their {what}: {missing[0]!r} is in one alone, and "
                f"{len(missing)} altogether. Give tables of the same objects and groups."
            )
    return first, second.reindex(index=first.index, columns=first.columns)


def _names_groups(table: Table) -> bool:
    return isinstance(table, pd.DataFrame | Mapping)


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
    OptionError
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
    known = next((frames[name].columns for name in frames if name not in one_label), None)
    if known is None:
        known = pd.Index(sorted({str(column) for name in one_label for column in frames[name]}))
    for name in one_label:
        if {*frames[name]} <= {*known}:
            frames[name] = frames[name].reindex(columns=known, fill_value=0)
    first, *others = frames
    for name in others:
        theirs, ours = frames[name].columns, frames[first].columns
        if {*theirs} != {*ours}:
            raise OptionError(
                f"{name} has the labels {', '.join(theirs)}, and {first} has {', '.join(ours)}. "
                "Give the same labels in both."
            )
        frames[name] = frames[name].reindex(columns=ours)
    return frames


def _indicators(labels: Labels, name: str) -> pd.DataFrame:
    if np.ndim(labels) == 1:
        texts = pd.Series(labels, dtype=object).reset_index(drop=True)
        texts = texts.map(str, na_action="ignore")
        return pd.get_dummies(texts, dtype=np.int64)
    frame = labels if isinstance(labels, pd.DataFrame) else pd.DataFrame(np.asarray(labels))
    frame = frame.set_axis([str(column) for column in frame], axis=1).reset_index(drop=True)
    values = frame.to_numpy()
    wrong = ~np.isin(values, (0, 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise OptionError(
            f"{name}, row {row + 1}, column {frame.columns[column]!r} is {values[row, column]}; "
            "give 0 or 1: scores have to be compared with a threshold first."
        )
    return frame.astype(np.int64)


def count_table(labels: Labels, groups: Labels) -> pd.DataFrame:
    """Return how many images show each object with each group: objects by groups.

    Parameters
    ----------
    labels, groups : labels
        Of the same images, in the same order: indicators, or a name an image.

    Raises
    ------
    OptionError
        The numbers of images differ, or a value is neither 0 nor 1.

    Examples
    --------
    >>> count_table(["pan", "pan", "ball"], ["woman", "man", "man"])
          man  woman
    ball    1      0
    pan     1      1
    """
    objects = read_indicators(labels=labels)["labels"]
    members = read_indicators(groups=groups)["groups"]
    check_rows(labels=objects, groups=members)
    return objects.T @ members


def check_rows(**frames: pd.DataFrame) -> None:
    """Raise OptionError unless all frames have the same number of rows, one an image."""
    first, *others = frames
    for name in others:
        if len(frames[name]) != len(frames[first]):
            raise OptionError(
                f"{first} has {len(frames[first])} rows, and {name} has {len(frames[name])}. Give "
                "a row for each image, in the same order."
            )
