"""A table from rows of nested values, as JSON and Arrow have them: objects become concepts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

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
    found = Rows(problems, partial(_columns, problems))
    for number, (place, row) in enumerate(rows):
        places.append(place)
        texts = {str(name): _text(name, value) for name, value in row.items()}
        found.add(number, texts, sum(len(text or "") for text in texts.values()))
    return replace(found.table(), place=lambda row: places[row])


def _columns(problems: Problems, rows: Sequence[Mapping[str, str | None]]) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    problems.within("columns", len(names))
    problems.within("table_mb", EMPTY_CELL * len(names) * len(rows))
    return pa.table({name: pa.array([row.get(name) for row in rows], TEXT) for name in names})


def batch_rows(batch: pa.RecordBatch, problems: Problems) -> list[dict[str, Any]]:
    """Rows of a batch in Python.

    Raises
    ------
    InputError
        They would take more memory than a table may, or a column's type hides how much.
    """
    for column in batch.columns:
        problems.within("table_mb", unfolded_bytes(column, _VALUE_BYTES))
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def _text(column: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else _encodable(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, dict | list | tuple) and column.lower() in _OBJECTS:
        value = concepts_of(value)
    return _encodable(json.dumps(value, default=str, ensure_ascii=False))


def _encodable(text: str) -> str:
    """Text whose lone surrogates, which JSON may write, are replaced."""
    return text.encode("utf-8", "replace").decode()


def concepts_of(value: Any) -> Any:
    """A list of objects, or an object of lists, as concepts where they have names; else as is."""
    if isinstance(value, dict):
        names, boxes, scores = (_first(value, keys) for keys in (NAMES, _BOXES, _SCORES))
        if not isinstance(names, list | tuple):
            return value
        n = len(names)
        whole = (
            column if isinstance(column, list | tuple) and len(column) == n else [None] * n
            for column in (boxes, scores)
        )
        columns = zip(names, *whole, strict=True)
        value = [{"name": name, "box": box, "score": score} for name, box, score in columns]
    return [_concept(one) for one in value]


def _concept(one: Any) -> Any:
    if not isinstance(one, dict):
        return one if one is None else str(one)
    name = _first(one, NAMES)
    if name is None or "concept" in one:
        return one
    found = {"concept": str(name), "box": _first(one, _BOXES), "score": _first(one, _SCORES)}
    return {key: value for key, value in found.items() if value is not None}


def _first(one: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((one[key] for key in keys if one.get(key) is not None), None)
