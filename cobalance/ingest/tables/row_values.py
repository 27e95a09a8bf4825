"""A table from rows of nested values, as JSON and Arrow have them: objects become concepts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from cobalance.base import decode_json
from cobalance.ingest.frames import TEXT
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.loading import EMPTY_CELL, Rows, Table
from cobalance.ingest.tables.parquet import unfolded_bytes

NAMES = ("concept", "concepts", "category", "categories", "label", "labels", "name", "names",
         "tag")  # fmt: skip
_BOXES = ("box", "boxes", "bbox", "bboxes", "bounding_box", "fbox")
_SCORES = ("score", "scores", "confidence")
_VALUE_BYTES = 64  # of a value in Python
_OBJECTS = ("objects", "annotations", "instances")


def table_of_rows(rows: Iterable[tuple[str, Mapping[str, Any]]], problems: Problems) -> Table:
    """Make a table of rows whose cells are any values of JSON, in one pass.

    A list of objects, or an object of lists, in a column such as ``objects`` becomes a list of
    concepts with boxes and scores; other lists and objects stay as they are, as JSON.

    Parameters
    ----------
    rows : iterable of (str, mapping)
        Place of a row, for messages, and its values by column; rows may differ in their columns.

    Raises
    ------
    InputError
        There are more rows or columns, or they take more memory, than the limits allow.
    """
    places: list[str] = []
    collected = Rows(problems, partial(_columns, problems))
    for number, (place, row) in enumerate(rows):
        places.append(place)
        texts = {str(name): _text(name, value) for name, value in row.items()}
        collected.add(number, texts, sum(map(len, filter(None, texts.values()))))

    return replace(collected.table(), place=lambda row: places[row])


def _columns(problems: Problems, rows: Sequence[Mapping[str, str | None]]) -> pa.Table:
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    problems.within("columns", len(names))
    problems.within("table_mb", EMPTY_CELL * len(names) * len(rows))
    return pa.Table.from_pylist(rows, schema=pa.schema(dict.fromkeys(names, TEXT)))


def batch_rows(batch: pa.RecordBatch, problems: Problems) -> list[dict[str, Any]]:
    """Rows of a batch in Python.

    Raises
    ------
    InputError
        They would take more memory than a table may, or a column's type hides how much.
    """
    for column in batch.columns:
        problems.within("table_mb", unfolded_bytes(column, _VALUE_BYTES))
    return batch.to_pylist()


def _text(column: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, bool):
        return str(int(value))

    if isinstance(value, dict | list | tuple) and column.lower() in _OBJECTS:
        value = concepts_of(value)
    return _encodable(json.dumps(value, default=str, ensure_ascii=False))


def _encodable(text: str) -> str:
    """Text whose lone surrogates, which JSON may write, are replaced."""
    return text.encode("utf-8", "replace").decode()


def as_json(value: Any) -> str:
    """A value as JSON, with what that has no form for as text."""
    return json.dumps(value, default=str)


def concepts_of(value: Any) -> Any:
    """A list of objects, or an object of lists, as concepts where they have names; else as is."""
    if isinstance(value, dict):
        # Several answers of Label Studio.
        if value.keys() == {"choices"} and isinstance(value["choices"], list):
            return value["choices"]
        names = _first(value, NAMES)
        if not isinstance(names, list | tuple):
            return value
        boxes, scores = _values(value, _BOXES, len(names)), _values(value, _SCORES, len(names))
        rows = zip(names, boxes, scores, strict=True)
        value = [{"name": name, "box": box, "score": score} for name, box, score in rows]
    return [_concept(item) for item in value if not _is_ignored(item)]


def _is_ignored(value: Any) -> bool:
    """Whether an object is a region that nobody looked into, such as a mask of CrowdHuman."""
    if not isinstance(value, dict):
        return False

    extra = value.get("extra")
    flags = (value, extra) if isinstance(extra, dict) else (value,)
    return any(flag.get("ignore") in (1, True, "1") for flag in flags)


def concept_list(cell: str | None) -> str | None:
    """A cell of objects, in JSON, as a list of concepts; any other as it is."""
    if cell is None or not _has_objects(cell):
        return cell
    try:
        return as_json(concepts_of(decode_json(cell)))
    except ValueError:
        return cell


def _has_objects(cell: str) -> bool:
    """Whether a cell is a list of objects, or an object of lists."""
    return cell.startswith(("{", "[")) and cell.lstrip("[ \n").startswith("{")


def _values(columns: Mapping[str, Any], keys: Sequence[str], n: int) -> Sequence[Any]:
    """The first list with one of some keys; None `n` times if it is not of this length."""
    column = _first(columns, keys)
    return column if isinstance(column, list | tuple) and len(column) == n else [None] * n


def _concept(value: Any) -> Any:
    if not isinstance(value, dict):
        return None if value is None else str(value)
    name = _first(value, NAMES)
    if name is None or "concept" in value:
        return value
    concept = {"concept": str(name), "box": _first(value, _BOXES), "score": _first(value, _SCORES)}
    return {key: cell for key, cell in concept.items() if cell is not None}


def _first(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
