"""A table from rows of nested values, as JSON and Arrow have them: objects become concepts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ingest.frames import TEXT
from ingest.problems import Problems
from ingest.tables.header import column_names
from ingest.tables.loading import Table

_NAMES = ("concept", "concepts", "category", "categories", "label", "labels", "name", "names")
_BOXES = ("box", "boxes", "bbox", "bboxes", "bounding_box")
_SCORES = ("score", "scores", "confidence")
_OBJECTS = ("objects", "annotations", "instances")


def table_of_rows(
    rows: Sequence[Mapping[str, Any]], places: Sequence[str], problems: Problems
) -> Table:
    """Make a table of rows whose cells are any values of JSON.

    A list of objects, or an object of lists, in a column such as ``objects`` becomes a list of
    concepts with boxes and scores; other lists and objects stay as they are, as JSON.

    Parameters
    ----------
    rows : sequence of mappings
        Values by column; rows may differ in their columns.
    places : sequence of str
        Names of the rows, for messages.

    Raises
    ------
    InputError
        There are more rows or columns than the limits allow.

    Examples
    --------
    >>> row = {"id": 1, "objects": {"bbox": [[0, 0, 5, 5]], "categories": ["cow"]}}
    >>> table = table_of_rows([row], ["line 1"], Problems("a", "fail"))
    >>> table.columns["objects"].to_pylist()
    ['[{"concept": "cow", "box": [0, 0, 5, 5]}]']
    """
    problems.within("rows", len(rows))
    given = list(dict.fromkeys(name for row in rows for name in row))
    problems.within("columns", len(given))
    names = column_names([str(name) for name in given], problems)
    columns = {
        name: pa.array([_text(key, row.get(key)) for row in rows], TEXT)
        for name, key in zip(names, given, strict=True)
    }
    return Table(problems, columns, len(rows), lambda row: places[row])


def _text(column: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else _encodable(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, dict | list | tuple) and column.lower() in _OBJECTS:
        value = _concepts(value)
    return _encodable(json.dumps(value, default=str, ensure_ascii=False))


def _encodable(text: str) -> str:
    """Text whose lone surrogates, which JSON may write, are replaced."""
    return text.encode("utf-8", "replace").decode()


def _concepts(value: Any) -> Any:
    """Objects as concepts, where they have names; anything else as it is."""
    if isinstance(value, dict):
        names, boxes, scores = (_first(value, keys) for keys in (_NAMES, _BOXES, _SCORES))
        if not isinstance(names, list | tuple):
            return value
        whole = [
            column if isinstance(column, list | tuple) and len(column) == len(names) else None
            for column in (boxes, scores)
        ]
        value = [
            {"name": name, "box": None if whole[0] is None else whole[0][at],
             "score": None if whole[1] is None else whole[1][at]}
            for at, name in enumerate(names)
        ]  # fmt: skip
    return [_concept(one) for one in value]


def _concept(one: Any) -> Any:
    if not isinstance(one, dict):
        return one if one is None else str(one)
    name = _first(one, _NAMES)
    if name is None:
        return one
    found = {"concept": str(name), "box": _first(one, _BOXES), "score": _first(one, _SCORES)}
    return {key: value for key, value in found.items() if value is not None}


def _first(one: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((one[key] for key in keys if one.get(key) is not None), None)
