"""Write frames as Parquet, with JSON text in columns that it has no type for."""

import io
from contextlib import suppress
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.workflows.cells import is_missing, json_text

# Types in each other; pyarrow does not read a file with 100.
_MOST_NESTED = 20


def to_parquet(frame: pd.DataFrame) -> tuple[bytes, list[str]]:
    """A frame as Parquet, and the names of the columns that hold JSON text instead of values.

    These are the columns that Parquet has no type for: of several kinds of values, or of maps that
    differ in their keys or have none.

    Examples
    --------
    >>> frame = pd.DataFrame({"names": [["cow"], []], "mixed": [1, {"a": 2}]})
    >>> content, as_json = to_parquet(frame)
    >>> as_json, pd.read_parquet(io.BytesIO(content))["mixed"].tolist()
    (['mixed'], ['1', '{"a": 2}'])
    """
    # Converted by pandas, they would lose NaN in lists, and what stands beside it.
    objects: dict[int, pd.Series] = {}
    typed = frame.copy(deep=False)
    nothing = pd.Series([None] * len(frame), dtype=object).array
    for position, (_, column) in enumerate(frame.items()):
        if column.dtype == object:
            objects[position] = column
            typed.isetitem(position, nothing)
    table = pa.Table.from_pandas(typed, preserve_index=False)

    as_json = list[str]()
    for position, column in objects.items():
        values = [None if value is pd.NA else value for value in column]
        array = _exact_array(values)
        if array is None:
            as_json.append(str(frame.columns[position]))
            array = pa.array(map(_text_or_json, values), pa.string())
        table = table.set_column(position, table.field(position).name, array)

    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue(), as_json


def _exact_array(values: list[Any]) -> pa.Array | None:
    """The values in Arrow's types; None where these, or Parquet, cannot hold them as they are."""
    # NaN is missing in a column of texts that pandas has made, but not in a list or among numbers.
    without_nan = [None if is_missing(value) else value for value in values]
    has_numbers = any(isinstance(value, int | float) for value in without_nan)
    attempts = [values] if has_numbers else [values, without_nan]

    for some_values in attempts:
        with suppress(pa.ArrowException, OverflowError):
            array = pa.array(some_values)
            is_exact = _is_in_parquet(array.type) and _is_same(values, array.to_pylist())
            return array if is_exact else None
    return None


def _is_in_parquet(kind: pa.DataType, depth: int = 0) -> bool:
    """Whether Parquet has the type: no struct without fields, and nothing that readers refuse."""
    if depth > _MOST_NESTED or (pa.types.is_struct(kind) and kind.num_fields == 0):
        return False
    fields = map(kind.field, range(kind.num_fields))
    return all(_is_in_parquet(field.type, depth + 1) for field in fields)


def _is_same(value: Any, other: Any) -> bool:
    """Whether a value came back as it was: a map with its keys alone, numbers by their value."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        is_map = isinstance(other, dict) and value.keys() == other.keys()
        return is_map and all(_is_same(part, other[key]) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        is_list = isinstance(other, list) and len(value) == len(other)
        return is_list and all(map(_is_same, value, other))

    # Of floats and booleans, Arrow makes floats.
    if isinstance(value, bool) is not isinstance(other, bool):
        return False
    return (is_missing(value) and is_missing(other)) or bool(value == other)


def _text_or_json(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    text = json_text(value)
    return None if text == "null" else text
