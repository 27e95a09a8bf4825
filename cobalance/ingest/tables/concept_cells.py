"""Concepts in the cells of a column: delimited text, printed or JSON lists, or Arrow lists."""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.base.documents import UNDECODABLE, decoding_fault
from cobalance.base.records import MENTION_NUMBERS
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import NameColumn, encode_names
from cobalance.ingest.problems import RowProblems

DELIMITERS = ("|", ";", ",")
_NOTHING = (None,) * len(MENTION_NUMBERS)
_AT_ONCE = 1 << 20
_FIX_JSON = 'Write a JSON list of names, or of objects like {"concept": "tree", "score": 0.9}'

_ITEM = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ITEMS = re.compile(_ITEM, re.DOTALL)
# NumPy prints no commas.
_PRINTED = re.compile(
    rf"(?:\[\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\]|\(\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\)"
    rf"|\{{\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\}}|set\(\))",
    re.DOTALL,
)
_START = re.compile(r"\[|[({]\s*['\"]|set\(\)$")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL | re.IGNORECASE
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


class CellConcept(msgspec.Struct):
    """A concept as an object in a list."""

    concept: str
    score: float | None = None
    area: float | None = None
    box: tuple[float, float, float, float] | None = None


Items = list[str | CellConcept]
_DECODER = msgspec.json.Decoder(Items)


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


def read_cells(
    column: pa.Array, delimiter: str | None, rows: RowProblems, *, may_be_spaced: bool = False
) -> Cells:
    """Parse the cells of a concepts column.

    Text is read as lists, in JSON or as Python prints them, if no delimiter is given and the first
    cell that is not blank starts like one; otherwise it is split at the delimiter, or at the first
    of ``|``, ``;`` and ``,`` that occurs anywhere in the column, or else, if it `may_be_spaced`, at
    spaces where cells share their words. Blank cells and empty pieces are ignored.
    """
    if column.type != TEXT:
        return _from_lists(column, rows)
    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    filled = text.filter(pc.not_equal(text, ""))
    if delimiter is None and len(filled) and starts_list(filled[0].as_py()):
        return _from_text(text, rows)
    if delimiter is None:
        present = (mark for mark in DELIMITERS if pc.any(pc.match_substring(text, mark)).as_py())
        spaced = may_be_spaced and are_spaced(filled.unique().to_pylist())
        delimiter = next(present, " " if spaced else None)
    row: IntArray = np.arange(len(text))
    names = text
    if delimiter is not None:
        marks = pc.sum(pc.count_substring(text, delimiter)).as_py() or 0
        rows.problems.within("mentions", marks)
        row, names = _flat(pc.split_pattern(text, delimiter))
        names = pc.utf8_trim_whitespace(names)
    filled = pc.not_equal(names, "").to_numpy(zero_copy_only=False)
    row, names = row[filled], names.filter(pa.array(filled))
    note = "one a cell" if delimiter is None else f"split at {delimiter!r}"
    return Cells(row, _check_names(names, row, rows), {}, note, delimiter)


def are_spaced(cells: list[str]) -> bool:
    """Whether each of some different cells of several words shares one with another, as tags do."""
    words = [{*cell.split()} for cell in cells]
    cells_with = Counter(word for cell in words for word in cell)
    several = [cell for cell in words if len(cell) > 1]
    return bool(several) and all(any(cells_with[it] > 1 for it in cell) for cell in several)


def _from_text(text: pa.Array, rows: RowProblems) -> Cells:
    """Parse lists in text; a million concepts at once become columns."""
    faults: dict[int, str] = {}
    row: list[int] = []
    found: Items = []
    parts: list[tuple[pa.Array, dict[str, FloatArray]]] = []
    for at, cell in enumerate(text.to_pylist()):
        if not cell:
            continue
        try:
            concepts = parse_list(cell)
        except ValueError as error:
            faults[at] = f"the concepts {cell[:60]!r} are not a JSON list of concepts ({error})"
            rows.problems.within("skipped", len(faults))
        else:
            found += concepts
            row += [at] * len(concepts)
            rows.problems.within("mentions", len(row))
            if len(found) > _AT_ONCE:
                parts.append(_columns(found))
                found = []
    parts.append(_columns(found))
    is_faulty = np.isin(np.arange(len(text)), [*faults])
    rows.report(is_faulty, faults.__getitem__, _FIX_JSON)
    where = np.array(row, dtype=np.int64)
    numbers = {
        name: np.concatenate([own.get(name, np.full(len(part), np.nan)) for part, own in parts])
        for name in (MENTION_NUMBERS if any(own for _, own in parts) else ())
    }
    _check_numbers(numbers, where, rows)
    names = pa.chunked_array([part for part, _ in parts], TEXT)
    return Cells(where, _check_names(names, where, rows), numbers, "lists in text", None)


def _columns(found: Items) -> tuple[pa.Array, dict[str, FloatArray]]:
    """Names of concepts, and their numbers if any has some."""
    names = pa.array([one if isinstance(one, str) else one.concept for one in found], TEXT)
    if all(isinstance(one, str) for one in found):
        return names, {}
    rows = [
        _NOTHING if isinstance(one, str) else (one.score, one.area, *(one.box or _NOTHING[:4]))
        for one in found
    ]
    values = np.array(rows, dtype=np.float64).T.copy()
    return names, dict(zip(MENTION_NUMBERS, values, strict=True))


def _from_lists(column: pa.Array, rows: RowProblems) -> Cells:
    """Flatten Arrow lists of names, or of structures with the fields of `CellConcept`."""
    rows.problems.within("mentions", pc.sum(pc.list_value_length(column)).as_py() or 0)
    row, items = _flat(column)
    numbers: dict[str, FloatArray] = {}
    if pa.types.is_struct(items.type):
        fields = {field.name: items.field(field.name) for field in items.type}
        try:
            for name, field in (("score", "score"), ("area_px2", "area")):
                if field in fields:
                    numbers[name] = _floats(fields[field])
            if "box" in fields:
                cells = fields["box"].to_pylist()
                boxes = [_NOTHING[:4] if box is None else box for box in cells]
                values = np.array(boxes, dtype=np.float64).reshape(len(boxes), 4)
                numbers |= zip(MENTION_NUMBERS[2:], values.T.copy(), strict=True)
            items = pc.cast(fields["concept"], TEXT)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise rows.problems.fatal(
                f"the structures of the concepts column have a field of a wrong type ({error})",
                "Save concept as text, score and area as numbers, box as a list of four numbers.",
            ) from None
        _check_numbers(numbers, row, rows)
    return Cells(row, _check_names(items, row, rows), numbers, "lists", None)


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
        if pa.types.is_struct(items.type):
            raise rows.problems.fatal(
                "the scores column holds structures", "Save a list of one number a concept."
            )
        if pa.types.is_dictionary(items.type):
            items = items.dictionary_decode()
        values = pd.to_numeric(items.to_pandas(), errors="coerce").to_numpy(dtype=np.float64)
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


def _check_names(names: pa.Array, row: IntArray, rows: RowProblems) -> NameColumn:
    column = encode_names(names)
    wrong = np.flatnonzero(column.codes < 0)
    _report_at(wrong, row, lambda at: f"a concept {column.fault(at)}", rows, "Correct its name")
    return column


def _check_numbers(numbers: dict[str, FloatArray], row: IntArray, rows: RowProblems) -> None:
    fix = "Write scores from 0 to 1, and no negative sizes"
    for name, what in (("score", "score"), ("area_px2", "area"), ("w_px", "box"), ("h_px", "box")):
        values = numbers.get(name, np.empty(0))
        wrong = np.flatnonzero((values < 0) | (values > (1 if name == "score" else np.inf)))
        found = [f"the {what} of a concept is {value:g}" for value in values[wrong]]
        _report_at(wrong, row, dict(zip(wrong.tolist(), found, strict=True)).__getitem__, rows, fix)


def _report_at(
    wrong: IntArray, row: IntArray, reason: Callable[[int], str], rows: RowProblems, fix: str
) -> None:
    """Report rows by their concepts that are wrong; `reason` describes a concept."""
    mask = np.zeros(len(rows.bad), dtype=bool)
    mask[row[wrong]] = True
    rows.report(
        mask, lambda at: reason(int(wrong[np.searchsorted(row[wrong], at, "right") - 1])), fix
    )


def starts_list(cell: str) -> bool:
    """Whether a cell starts like a list.

    Examples
    --------
    >>> [starts_list(cell) for cell in ('["a"]', "['a']", "{'a'}", "(a)", "a|b")]
    [True, True, True, False, False]
    """
    return _START.match(cell) is not None


def parse_list(cell: str) -> Items:
    r"""Parse a list in JSON, or as Python prints a list, a tuple or a set of texts or of dicts.

    Raises
    ------
    ValueError
        It is neither.

    Examples
    --------
    >>> parse_list('["a", "b|c"]'), parse_list("['a', 'b c']"), parse_list("['a' 'b']")
    (['a', 'b|c'], ['a', 'b c'], ['a', 'b'])
    """
    try:
        return _DECODER.decode(cell)
    except UNDECODABLE as error:
        if cell.startswith("[") and "'" not in cell:
            raise ValueError(decoding_fault(error)) from None
        fault = decoding_fault(error)
    if _PRINTED.fullmatch(cell):
        return [_ESCAPE.sub(_unescape, item[1:-1]) for item in _ITEMS.findall(cell)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of escapes that Python would not write
            return msgspec.convert(ast.literal_eval(cell), Items)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise ValueError(fault) from None


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _LETTERS.get(found[4], found[4])
