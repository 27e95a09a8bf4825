"""Concepts in the cells of a column: delimited text, JSON lists, or Arrow lists."""

from dataclasses import dataclass

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from graph.arrays import FloatArray, IntArray
from ingest.documents import UNDECODABLE, decoding_fault
from ingest.frames import TEXT
from ingest.names import NameColumn, encode_names
from ingest.problems import RowProblems

BOX = ("x_px", "y_px", "w_px", "h_px")
DELIMITERS = ("|", ";", ",")
_FIX_JSON = 'Write a JSON list of names, or of objects like {"concept": "tree", "score": 0.9}'


class CellConcept(msgspec.Struct):
    """A concept as an object in a JSON list."""

    concept: str
    score: float | None = None
    area: float | None = None
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """Concepts of all rows, flattened.

    Parameters
    ----------
    row : int64 array, shape (m,)
        Row of each concept.
    concept : NameColumn
        Names, in the same order.
    numbers : dict of str to float64 array
        Score, area and box if the cells have them.
    note : str
        How the cells were parsed, as text for people.
    delimiter : str or None
        Delimiter of text cells.
    """

    row: IntArray
    concept: NameColumn
    numbers: dict[str, FloatArray]
    note: str
    delimiter: str | None


def read_cells(column: pa.Array, delimiter: str | None, rows: RowProblems) -> Cells:
    """Parse the cells of a concepts column.

    Text is read as JSON lists if no delimiter is given and the first cell that is not blank starts
    with ``[``; otherwise it is split at the delimiter, or at the first of ``|``, ``;`` and ``,``
    that occurs anywhere in the column. Blank cells and empty pieces are ignored.
    """
    if column.type != TEXT:
        return _from_lists(column, rows)
    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    filled = text.filter(pc.not_equal(text, ""))
    if delimiter is None and len(filled) and filled[0].as_py().startswith("["):
        return _from_json(text, rows)
    if delimiter is None:
        present = (mark for mark in DELIMITERS if pc.any(pc.match_substring(text, mark)).as_py())
        delimiter = next(present, None)
    row: IntArray = np.arange(len(text))
    names = text
    if delimiter is not None:
        row, names = _flat(pc.split_pattern(text, delimiter))
        names = pc.utf8_trim_whitespace(names)
    filled = pc.not_equal(names, "").to_numpy(zero_copy_only=False)
    row, names = row[filled], names.filter(pa.array(filled))
    note = "one a cell" if delimiter is None else f"split at {delimiter!r}"
    return Cells(row, _checked(names, row, rows), {}, note, delimiter)


def _from_json(text: pa.Array, rows: RowProblems) -> Cells:
    decoder = msgspec.json.Decoder(list[str | CellConcept])
    faults: dict[int, str] = {}
    row: list[int] = []
    found: list[str | CellConcept] = []
    for at, cell in enumerate(text.to_pylist()):
        if not cell:
            continue
        try:
            concepts = decoder.decode(cell)
        except UNDECODABLE as error:
            why = decoding_fault(error)
            faults[at] = f"the concepts {cell[:60]!r} are not a JSON list of concepts ({why})"
        else:
            found += concepts
            row += [at] * len(concepts)
    _report(faults, rows, _FIX_JSON)
    where = np.array(row, dtype=np.int64)
    numbers = {} if all(isinstance(one, str) for one in found) else _numbers(found)
    _check_numbers(numbers, where, rows)
    names = pa.array([one if isinstance(one, str) else one.concept for one in found], TEXT)
    return Cells(where, _checked(names, where, rows), numbers, "JSON lists", None)


def _numbers(found: list[str | CellConcept]) -> dict[str, FloatArray]:
    nothing = CellConcept("")
    parts = [nothing if isinstance(one, str) else one for one in found]
    boxes = np.array([one.box or (np.nan,) * 4 for one in parts], dtype=np.float64)
    return {
        "score": np.array([one.score for one in parts], dtype=np.float64),
        "area_px2": np.array([one.area for one in parts], dtype=np.float64),
        **dict(zip(BOX, boxes.T.copy(), strict=True)),
    }


def _from_lists(column: pa.Array, rows: RowProblems) -> Cells:
    """Flatten Arrow lists of names, or of structures with the fields of `CellConcept`."""
    row, items = _flat(column)
    numbers: dict[str, FloatArray] = {}
    if pa.types.is_struct(items.type):
        fields = {field.name: items.field(field.name) for field in items.type}
        if "concept" not in fields:
            raise rows.problems.fatal(
                f"the structures of the concepts column have no field 'concept' (theirs: "
                f"{', '.join(fields)})",
                "Name the field with the concept's name 'concept'.",
            )
        try:
            for name, field in (("score", "score"), ("area_px2", "area")):
                if field in fields:
                    numbers[name] = _floats(fields[field])
            if "box" in fields:
                numbers |= _boxes(fields["box"])
            items = pc.cast(fields["concept"], TEXT)
        except (pa.ArrowException, ValueError) as error:
            raise rows.problems.fatal(
                f"the structures of the concepts column have a field of a wrong type ({error})",
                "Save concept as text, score and area as numbers, box as a list of four numbers.",
            ) from None
        _check_numbers(numbers, row, rows)
    return Cells(row, _checked(pc.fill_null(items, ""), row, rows), numbers, "lists", None)


def _boxes(column: pa.Array) -> dict[str, FloatArray]:
    boxes = [box if box is not None else (np.nan,) * 4 for box in column.to_pylist()]
    values = np.array(boxes, dtype=np.float64).reshape(len(boxes), 4)
    return dict(zip(BOX, values.T.copy(), strict=True))


def read_scores(column: pa.Array, cells: Cells, rows: RowProblems) -> FloatArray:
    """Scores of concepts, from a column with one score per concept."""
    n = len(rows.bad)
    if column.type == TEXT:
        text = pc.utf8_trim(pc.fill_null(column, ""), " \t[]")
        listed = pc.any(pc.match_substring(pc.fill_null(column, ""), "[")).as_py()
        at, pieces = _flat(pc.split_pattern(text, "," if listed else cells.delimiter or "|"))
        filled = pc.not_equal(pc.utf8_trim_whitespace(pieces), "").to_numpy(zero_copy_only=False)
        at, pieces = at[filled], pieces.filter(pa.array(filled))
        values = pd.to_numeric(pieces.to_pandas(), errors="coerce").to_numpy(dtype=np.float64)
    elif pa.types.is_floating(column.type):
        at, values = np.arange(n), _floats(column)
        at, values = at[~np.isnan(values)], values[~np.isnan(values)]
    else:
        at, items = _flat(column)
        values = _floats(items)
    expected, given = np.bincount(cells.row, minlength=n), np.bincount(at, minlength=n)
    wrong = np.zeros(n, dtype=bool)
    wrong[at[~((values >= 0) & (values <= 1))]] = True
    rows.report(wrong, lambda _: "a score is not a number from 0 to 1", "Correct it")
    rows.report(
        expected != given,
        lambda row: f"has {given[row]} scores for {expected[row]} concepts",
        "Write one score a concept",
    )
    result = np.full(len(cells.row), np.nan)
    sound = ~rows.bad
    result[sound[cells.row]] = values[sound[at]]
    return result


def _flat(lists: pa.Array) -> tuple[IntArray, pa.Array]:
    """Flatten a column of lists: the row of each item, and the items."""
    row = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    return row, pc.list_flatten(lists)


def _floats(column: pa.Array) -> FloatArray:
    values: FloatArray = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    return values


def _checked(names: pa.Array, row: IntArray, rows: RowProblems) -> NameColumn:
    column = encode_names(names)
    faults = {int(row[at]): f"a concept {fault}" for at, fault in column.faults.items()}
    _report(faults, rows, "Correct its name")
    return column


def _check_numbers(numbers: dict[str, FloatArray], row: IntArray, rows: RowProblems) -> None:
    limits = {"score": (0.0, 1.0), "area_px2": (0.0, np.inf), "w_px": (0.0, np.inf)}
    limits["h_px"] = limits["w_px"]
    for name, (low, high) in limits.items():
        if name in numbers:
            values = numbers[name]
            wrong = np.flatnonzero((values < low) | (values > high)).tolist()
            what = {"area_px2": "area", "w_px": "box", "h_px": "box"}.get(name, name)
            faults = {int(row[at]): f"the {what} of a concept is {values[at]:g}" for at in wrong}
            _report(faults, rows, "Write scores from 0 to 1, and no negative sizes")


def _report(faults: dict[int, str], rows: RowProblems, fix: str) -> None:
    mask = np.zeros(len(rows.bad), dtype=bool)
    mask[list(faults)] = True
    rows.report(mask, lambda row: faults[row], fix)
