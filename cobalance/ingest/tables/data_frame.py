"""pandas frames, read like table files."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import InputError
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.guesses import usual_column
from cobalance.ingest.tables.loading import Table, column_names
from cobalance.ingest.tables.parquet import is_usable, plain_column


def load_frame(frame: pd.DataFrame, problems: Problems) -> Table:
    """Load a frame with a row per image; concepts may be text, lists, tuples or sets."""
    names = column_names([*frame.columns], problems)
    problems.within("rows", len(frame))
    arrays = {name: _array(frame.iloc[:, position]) for position, name in enumerate(names)}

    return Table(
        problems,
        {name: plain_column(column) for name, column in arrays.items() if is_usable(column.type)},
        len(frame),
        lambda row: f"row {row}",
        {name: str(column.type) for name, column in arrays.items() if not is_usable(column.type)},
    )


def with_id(frame: pd.DataFrame, options: ReadOptions) -> tuple[pd.DataFrame, ReadOptions]:
    """Use the index of a frame as image ids if it has no column of them.

    Raises
    ------
    InputError
        The index has several levels.
    """
    if options.id_column is not None or usual_column("id", frame.columns) is not None:
        return frame, options
    if frame.index.nlevels > 1:
        raise InputError(
            "frame", None, "its index has several levels", "Reset it, and name a column of ids."
        )

    name = str(frame.index.name or "index")
    while name in frame.columns:
        name += "_"
    frame = frame.assign(**{name: frame.index.astype(str)})
    return frame, replace(options, id_column=name)


def one_row_per_image(
    frame: pd.DataFrame, concept: str, options: ReadOptions
) -> tuple[pd.DataFrame, ReadOptions]:
    """Turn a frame of one row per image and concept into one of a row per image.

    Columns that differ between the rows of an image, such as scores, are left out.

    Parameters
    ----------
    concept : str
        Column with one concept per row, missing for an image without any.

    Raises
    ------
    InputError
        A column is missing, or an image has rows of several classes.
    """
    image = options.id_column or usual_column("id", frame.columns)
    label = options.class_column or usual_column("class", frame.columns)
    for name, what in ((image, "id_column"), (concept, "concept_column")):
        if name is None or name not in frame.columns:
            raise InputError(
                "frame",
                None,
                f"there is no column {name or 'of image ids'!r}",
                f"Pass {what} with one of: {', '.join(frame.columns)}.",
            )

    missing = frame[image].isna().to_numpy()
    if missing.any():
        row = int(np.argmax(missing))
        raise InputError("frame", f"row {row}", "the image id is missing", "Fill it in.")

    # Numbers of one value are compared as texts, in which NaN is like NaN.
    texts = frame.map(str)
    differs = texts != texts.groupby(frame[image]).transform("first")
    if label in differs and differs[label].any():
        row = int(np.argmax(differs[label]))
        raise InputError(
            "frame",
            f"row {row}",
            f"the image {frame[image].iloc[row]!r} is of a second class, "
            f"{frame[label].iloc[row]!r}",
            "Give each image one class.",
        )

    gathered = frame.loc[~frame[image].duplicated(), ~differs.any()].reset_index(drop=True)
    lists = frame[concept].dropna().groupby(frame[image], sort=False).agg(list)
    gathered[concept] = [lists.get(id_, []) for id_ in gathered[image]]
    return gathered, replace(options, id_column=str(image), concepts_column=concept)


def _array(column: "pd.Series[Any]") -> pa.Array:
    """Convert a column to Arrow: sets as sorted lists, unsupported values as text."""
    if column.dtype == object:
        column = column.map(_plain)

    try:
        array = pa.array(column, from_pandas=True)
    except pa.ArrowException:
        # A column of several kinds of values.
        present = column.notna()
        array = pa.array(column.where(present, None).map(str, na_action="ignore"), from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        return array.combine_chunks()
    return array


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return value
