"""Cells that hold JSON objects: their keys become columns."""

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
from cobalance.ingest.frames import TEXT
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.row_values import table_of_rows
from cobalance.ingest.tables.values import encode_values

_BOX_KEYS = (("x", "y", "width", "height"), ("x", "y", "w", "h"))
_NO_BOX = [nan] * 4
_NO_CODES: IntArray = np.empty(0, dtype=np.int64)


def unfold(part: Metadata, problems: Problems) -> Metadata:
    """Make a column of each key of JSON objects in cells; the sides of a box become numbers."""
    columns = dict(part.columns)
    for name, column in part.columns.items():
        codes, objects = _decode_objects(column)
        if not objects or all(value.keys() == {"choices"} for value in objects):
            continue

        del columns[name]
        box_keys = _find_box_keys(objects[0])
        if box_keys and not part.numbers:
            part = replace(part, numbers=_box_numbers(objects, box_keys, codes))

        properties = [_leave_out(box_keys, value) for value in objects]
        if not any(properties):
            continue

        rows = pa.array(codes, mask=codes < 0)
        columns_by_key = table_of_rows((("", value) for value in properties), problems).columns
        for key, cells in columns_by_key.items():
            # Keys of a second column of objects may be called as those of the first.
            columns[f"{name} {key}" if key in columns else key] = cells.take(rows)

    return replace(part, columns=columns)


def _decode_objects(column: pa.Array) -> tuple[IntArray, list[dict[str, Any]]]:
    """A code of each record, -1 without a value, and the objects; none in another column."""
    # The first cell tells most columns without objects apart, before any is decoded.
    first_cell = column.drop_null()[:1].to_pylist() if column.type == TEXT else []
    if not first_cell or not first_cell[0].lstrip().startswith("{"):
        return _NO_CODES, []

    # Equal cells have one code, and are decoded once.
    values = encode_values(column)
    objects = list(map(_decode, values.texts))
    if not all(isinstance(value, dict) for value in objects):
        return _NO_CODES, []
    return values.codes, objects


def _decode(text: str) -> Any:
    """The value of a cell in JSON; None where it is not JSON."""
    try:
        return decode_json(text)
    except ValueError:
        return None


def _find_box_keys(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of an object's keys are a box's; none without a box."""
    for keys in _BOX_KEYS:
        if value.keys() >= {*keys}:
            return keys
    return ()


def _leave_out(keys: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """Values of an object under other keys than these."""
    return {key: content for key, content in value.items() if key not in keys}


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
