"""Cells that hold several things: lists of names or objects, and JSON objects."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pyarrow as pa

from cobalance.base import (
    MENTION_NUMBERS,
    FloatArray,
    IntArray,
    Metadata,
    decode_json,
)
from cobalance.ingest.frames import TEXT, take_rows
from cobalance.ingest.names import put_before, rename_some
from cobalance.ingest.problems import Problems, RowProblems
from cobalance.ingest.tables.concept_cells import read_cells
from cobalance.ingest.tables.guesses import CONCEPT_COLUMNS, normal_name
from cobalance.ingest.tables.row_values import table_of_rows
from cobalance.ingest.tables.values import encode_values

_BOX_KEYS = (("x", "y", "width", "height"), ("x", "y", "w", "h"))
_NO_BOX = [nan] * 4


def read_lists(
    name: str, column: pa.Array, names: Mapping[str, str], problems: Problems
) -> tuple[IntArray, IntArray, list[str], dict[str, FloatArray]]:
    """Record and code of each thing in a column of lists; concepts; scores, areas and boxes.

    Names of objects, and those in a column that is called as concepts are, are the concepts; others
    are of the column's category; `names` are of codes. Cells that cannot be read are left out.
    """
    lenient = replace(problems.options, on_error="skip", max_skipped=problems.options.max_mentions)
    rows = RowProblems(
        Problems(problems.file, lenient), len(column), lambda row: f"record {row + 1}"
    )
    cells = read_cells(column, None, rows)

    is_sound = (cells.concept.codes >= 0) & ~rows.bad[cells.row]
    numbers = take_rows(cells.numbers, is_sound)
    concepts = rename_some(cells.concept.names, names)
    if not cells.has_objects and normal_name(name) not in CONCEPT_COLUMNS:
        concepts = put_before(name, concepts)
    return cells.row[is_sound], cells.concept.codes[is_sound], concepts, numbers


def unfold(part: Metadata, problems: Problems) -> Metadata:
    """Make a column of each key of JSON objects in cells; the sides of a box become numbers."""
    columns = dict(part.columns)
    for name, column in part.columns.items():
        # The first cell tells most columns without objects apart, before any is decoded.
        first_cell = column.drop_null()[:1].to_pylist() if column.type == TEXT else []
        if not first_cell or not first_cell[0].lstrip().startswith("{"):
            continue

        # Equal cells have one code, and are decoded once.
        values = encode_values(column)
        objects = list(map(_decode, values.texts))
        if not all(isinstance(value, dict) for value in objects):
            continue

        del columns[name]
        box_keys = next((keys for keys in _BOX_KEYS if objects[0].keys() >= {*keys}), ())
        if box_keys and not part.numbers:
            part = replace(part, numbers=_box_numbers(objects, box_keys, values.codes))
        for value in objects:
            for key in box_keys:
                value.pop(key, None)
        if not any(objects):
            continue

        rows = pa.array(values.codes, mask=values.codes < 0)
        columns_by_key = table_of_rows((("", value) for value in objects), problems).columns
        for key, cells in columns_by_key.items():
            # Keys of a second column of objects may be called as those of the first.
            columns[f"{name} {key}" if key in columns else key] = cells.take(rows)

    return replace(part, columns=columns)


def _decode(text: str) -> Any:
    """The value of a cell in JSON; None where it is not JSON."""
    try:
        return decode_json(text)
    except ValueError:
        return None


def _box_numbers(
    objects: Sequence[Mapping[str, Any]], keys: Sequence[str], codes: IntArray
) -> Mapping[str, FloatArray]:
    """Boxes of records by the codes of their objects; NaN where a side is no number."""
    boxes = [_sides(value, keys) for value in objects]
    # Records of the code -1, which have no object, take the last.
    values = np.array([*boxes, _NO_BOX], dtype=np.float64)[codes]
    missing = np.full(len(codes), nan)
    return dict(zip(MENTION_NUMBERS, (missing, missing, *values.T.copy()), strict=True))


def _sides(value: Mapping[str, Any], keys: Sequence[str]) -> list[float]:
    sides: list[Any] = list(map(value.get, keys))
    if not all(isinstance(side, int | float) for side in sides):
        return _NO_BOX
    return sides
