"""pandas frames, read like table files."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.graph.errors import InputError
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.columns import usual_column
from cobalance.ingest.tables.loading import Table, column_names
from cobalance.ingest.tables.parquet import is_usable, plain_column


def load_frame(frame: pd.DataFrame, problems: Problems) -> Table:
    """Load a frame with a row per image; concepts may be text, lists, tuples or sets."""
    names = column_names([*frame.columns], problems)
    problems.within("rows", len(frame))
    arrays = {name: _array(frame.iloc[:, at]) for at, name in enumerate(names)}
    return Table(
        problems,
        {name: plain_column(it) for name, it in arrays.items() if is_usable(it.type)},
        len(frame),
        lambda row: f"row {row}",
        {name: str(it.type) for name, it in arrays.items() if not is_usable(it.type)},
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
    ids = frame.index.astype(str)
    return frame.assign(**{name: ids}), replace(options, id_column=name)


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

    Examples
    --------
    >>> rows = pd.DataFrame({"image": ["a", "a", "b"], "concept": ["cow", "road", None]})
    >>> one_row_per_image(rows, "concept", ReadOptions())[0].to_dict("records")
    [{'image': 'a', 'concept': ['cow', 'road']}, {'image': 'b', 'concept': []}]
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
    codes, ids = pd.factorize(frame[image])
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InputError("frame", f"row {row}", "the image id is missing", "Fill it in.")
    first = np.zeros(len(ids), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(frame))[::-1]
    kept: dict[Any, pd.Series[Any]] = {}
    for name in frame.columns.drop(concept):
        values = pd.factorize(_hashable(frame[name]), use_na_sentinel=True)[0]
        differs = values != values[first][codes]
        if name == label and differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                "frame",
                f"row {row}",
                f"the image {frame[image].iloc[row]!r} is of a second class, "
                f"{frame[label].iloc[row]!r}",
                "Give each image one class.",
            )
        if not differs.any():
            kept[name] = frame[name].iloc[first]
    present = frame[concept].notna().to_numpy()
    lists: list[list[Any]] = [[] for _ in ids]
    for code, name in zip(codes[present].tolist(), frame[concept][present], strict=True):
        lists[code].append(name)
    gathered = pd.DataFrame(kept).reset_index(drop=True)
    gathered[concept] = pd.Series(lists, dtype=object)
    return gathered, replace(options, id_column=str(image), concepts_column=concept)


def _hashable(column: "pd.Series[Any]") -> "pd.Series[Any]":
    if column.dtype != object:
        return column
    return column.map(lambda value: value if pd.api.types.is_hashable(value) else repr(value))


def _array(column: "pd.Series[Any]") -> pa.Array:
    """Convert a column to Arrow: sets as sorted lists, unsupported values as text."""
    if column.dtype == object:
        column = column.map(_plain)
    try:
        array = pa.array(column, from_pandas=True)
    except pa.ArrowException:
        present = column.notna()
        array = pa.array(column.where(present, None).map(str, na_action="ignore"), from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
