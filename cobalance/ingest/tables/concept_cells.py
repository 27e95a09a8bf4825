"""Concepts in the cells of a column: delimited text, printed or JSON lists, or Arrow lists."""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import chain

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import (
    MENTION_NUMBERS,
    UNDECODABLE,
    FloatArray,
    IntArray,
    decimal_text,
    decoding_fault,
)
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import NameColumn, encode_names
from cobalance.ingest.problems import RowProblems
from cobalance.ingest.tables.row_values import as_json, concept_list, concepts_of

DELIMITERS = ("|", ";", ",")
_NO_BOX = (None,) * 4
_AT_ONCE = 1 << 20
# An object or a list of objects in JSON begins so.
_OBJECTS = r"^(\[[\[ \n]*)?\{"
# Lists of texts or objects, objects of lists, and tuples and sets.
_LISTED = r"""^(\[\s*["'\]{]|[({]\s*["']|set\(\)$)"""
# Each object is a name and four whole numbers: n02107142 10 20 60 90.
_CORNER_LIST = r"^\s*([^\s\d]\S*(\s+\d+){4}\s*)+$"
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
    has_objects : bool
        Whether some cells held objects, in JSON or Arrow.
    """

    row: IntArray
    concept: NameColumn
    numbers: dict[str, FloatArray]
    note: str
    delimiter: str | None
    has_objects: bool = False


def read_cells(
    column: pa.Array, delimiter: str | None, rows: RowProblems, *, may_be_spaced: bool = False
) -> Cells:
    """Parse the cells of a concepts column.

    Text is read as lists, in JSON or as Python prints them, if no delimiter is given and the first
    cell that is not blank starts like one; otherwise it is split at the delimiter, or at the first
    of ``|``, ``;`` and ``,`` that occurs anywhere in the column, or else, if it `may_be_spaced`, at
    spaces where cells share their words. Blank cells and empty pieces are ignored.
    """
    column, has_objects = _lists_of_concepts(column)
    if column.type != TEXT:
        cells = _from_lists(column, rows)
    else:
        cells = _from_texts(column, delimiter, rows, may_be_spaced=may_be_spaced)
    return replace(cells, has_objects=has_objects)


def with_lists(column: pa.Array) -> pa.Array:
    """A column of text with lists in some cells, and its other cells as lists of one, as JSON."""
    if column.type != TEXT:
        return column

    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    is_list = pc.match_substring_regex(text, _LISTED)
    is_text = pc.invert(pc.or_(is_list, pc.equal(text, "")))
    if not pc.any(is_list).as_py() or not pc.any(is_text).as_py():
        return column

    cells = zip(text.to_pylist(), is_text.to_pylist(), strict=True)
    return pa.array([as_json([cell]) if is_one else cell for cell, is_one in cells], TEXT)


def _lists_of_concepts(column: pa.Array) -> tuple[pa.Array, bool]:
    """A column with its objects, in JSON or Arrow, as lists of concepts; whether it has any."""
    if pa.types.is_floating(column.type):
        column = pa.array(map(decimal_text, column.to_pylist()), TEXT)
    if column.type == TEXT:
        if pc.all(pc.match_substring_regex(column, _CORNER_LIST)).as_py():
            return pa.array(map(_corner_objects, column.to_pylist()), TEXT), True
        if not pc.any(pc.match_substring_regex(column, _OBJECTS)).as_py():
            return column, False
        return pa.array(map(concept_list, column.to_pylist()), TEXT), True

    items = column.type.value_type
    if not pa.types.is_struct(items):
        return column, False
    if items.get_field_index("concept") >= 0:
        return column, True
    objects = (as_json(concepts_of(cell or [])) for cell in column.to_pylist())
    return pa.array(objects, TEXT), True


def _corner_objects(cell: str | None) -> str:
    """Objects with their corners, as in lists of ImageNet: ``n02107142 10 20 60 90``."""
    words = (cell or "").split()
    x, y, right, bottom = (np.array(words[offset::5], dtype=float) for offset in range(1, 5))
    boxes = np.stack([x, y, right - x, bottom - y], axis=1).tolist()
    objects = zip(words[::5], boxes, strict=True)
    return as_json([{"concept": name, "box": box} for name, box in objects])


def _from_texts(
    column: pa.Array, delimiter: str | None, rows: RowProblems, *, may_be_spaced: bool
) -> Cells:
    """Parse lists in text, or split it at a delimiter."""
    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    filled = text.filter(pc.not_equal(text, ""))
    if delimiter is None and len(filled) and starts_list(filled[0].as_py()):
        return _from_printed_lists(text, rows)

    if delimiter is None:
        marks = (mark for mark in DELIMITERS if pc.any(pc.match_substring(text, mark)).as_py())
        delimiter = next(marks, None)
        if delimiter is None and may_be_spaced and are_spaced(filled.unique().to_pylist()):
            delimiter = " "
    row: IntArray = np.arange(len(text))
    names = text
    if delimiter is not None:
        # Each delimiter makes a concept more: they are counted before memory is taken for them.
        n_marks = pc.sum(pc.count_substring(text, delimiter)).as_py() or 0
        rows.problems.within("mentions", n_marks)
        row, names = _flat(pc.split_pattern(text, delimiter))
        names = pc.utf8_trim_whitespace(names)

    has_name = pc.not_equal(names, "").to_numpy(zero_copy_only=False)
    row, names = row[has_name], names.filter(pa.array(has_name))
    note = "one a cell" if delimiter is None else f"split at {delimiter!r}"
    return Cells(row, _check_names(names, row, rows), {}, note, delimiter)


def are_spaced(cells: list[str]) -> bool:
    """Whether each of some different cells of several words shares one with another, as tags do."""
    words = list(map(set, map(str.split, cells)))
    cells_with = Counter(chain.from_iterable(words))
    shared = {word for word, n_cells in cells_with.items() if n_cells > 1}
    of_several_words = [cell for cell in words if len(cell) > 1]
    return bool(of_several_words) and not any(map(shared.isdisjoint, of_several_words))


def delimited_parts(texts: Collection[str]) -> tuple[str | None, list[str]]:
    """Find the first delimiter that occurs in texts, and the names that it separates in them.

    Examples
    --------
    >>> delimited_parts(["sun| rain", "rain|"]), delimited_parts(["sun"])
    (('|', ['sun', 'rain', 'rain']), (None, []))
    """
    joined = "".join(texts)
    mark = next(filter(joined.__contains__, DELIMITERS), None)
    if mark is None:
        return None, []
    parts = chain.from_iterable(text.split(mark) for text in texts)
    return mark, list(filter(None, map(str.strip, parts)))


def words_in_each(texts: Collection[str]) -> float:
    """Average number of words in a text; 0 without texts."""
    return sum(map(len, map(str.split, texts))) / max(len(texts), 1)


def _from_printed_lists(text: pa.Array, rows: RowProblems) -> Cells:
    """Parse lists in text; a million concepts at once become columns."""
    faults: dict[int, str] = {}
    row_of: list[int] = []
    pending: Items = []
    parts: list[tuple[pa.Array, dict[str, FloatArray]]] = []
    for row, cell in enumerate(text.to_pylist()):
        if not cell:
            continue
        try:
            concepts = parse_list(cell)
        except ValueError as error:
            faults[row] = f"the concepts {cell[:60]!r} are not a JSON list of concepts ({error})"
            rows.problems.within("skipped", len(faults))
            continue

        pending += concepts
        row_of += [row] * len(concepts)
        rows.problems.within("mentions", len(row_of))
        if len(pending) > _AT_ONCE:
            parts.append(_columns(pending))
            pending = []
    parts.append(_columns(pending))

    is_faulty = np.isin(np.arange(len(text)), [*faults])
    rows.report(is_faulty, faults.__getitem__, _FIX_JSON)
    numbers = _join_numbers(parts)
    mention_rows = np.array(row_of, dtype=np.int64)
    _check_numbers(numbers, mention_rows, rows)
    names = pa.chunked_array([part for part, _ in parts], TEXT)
    return Cells(
        mention_rows, _check_names(names, mention_rows, rows), numbers, "lists in text", None
    )


def _join_numbers(parts: list[tuple[pa.Array, dict[str, FloatArray]]]) -> dict[str, FloatArray]:
    """Numbers of all parts, NaN in those without any; empty if no part has some."""
    frames = [pd.DataFrame(numbers, index=range(len(names))) for names, numbers in parts]
    joined = pd.concat(frames, ignore_index=True)
    return {str(name): column.to_numpy(np.float64) for name, column in joined.items()}


def _columns(items: Items) -> tuple[pa.Array, dict[str, FloatArray]]:
    """Names of concepts, and their numbers if any has some."""
    if {*map(type, items)} <= {str}:
        return pa.array(items, TEXT), {}
    concepts = [CellConcept(item) if isinstance(item, str) else item for item in items]
    names = pa.array([concept.concept for concept in concepts], TEXT)
    rows = [(concept.score, concept.area, *(concept.box or _NO_BOX)) for concept in concepts]
    values = np.array(rows, dtype=np.float64).T.copy()
    return names, dict(zip(MENTION_NUMBERS, values, strict=True))


def _from_lists(column: pa.Array, rows: RowProblems) -> Cells:
    """Flatten Arrow lists of names, or of structures with the fields of `CellConcept`."""
    rows.problems.within("mentions", pc.sum(pc.list_value_length(column)).as_py() or 0)
    row, items = _flat(column)
    numbers: dict[str, FloatArray] = {}
    if pa.types.is_struct(items.type):
        try:
            items, numbers = _struct_columns(items)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise rows.problems.fatal(
                f"the structures of the concepts column have a field of a wrong type ({error})",
                "Save concept as text, score and area as numbers, box as a list of four numbers.",
            ) from None
        _check_numbers(numbers, row, rows)

    return Cells(row, _check_names(items, row, rows), numbers, "lists", None)


def _struct_columns(items: pa.StructArray) -> tuple[pa.Array, dict[str, FloatArray]]:
    """Names and numbers of structures with a field ``concept``.

    Raises as Arrow or NumPy do for fields of a wrong type.
    """
    fields = {field.name: items.field(field.name) for field in items.type}
    numbers: dict[str, FloatArray] = {}
    for name, field in (("score", "score"), ("area_px2", "area")):
        if field in fields:
            numbers[name] = _floats(fields[field])

    if "box" in fields:
        boxes = [_NO_BOX if box is None else box for box in fields["box"].to_pylist()]
        values = np.array(boxes, dtype=np.float64).reshape(len(boxes), 4)
        numbers |= zip(MENTION_NUMBERS[2:], values.T.copy(), strict=True)

    return pc.cast(fields["concept"], TEXT), numbers


def read_scores(column: pa.Array, cells: Cells, rows: RowProblems) -> FloatArray:
    """Scores of concepts, from a column with one score per concept."""
    n_rows = len(rows.bad)
    score_row, values = _scores_of(column, cells, rows)

    n_concepts = np.bincount(cells.row, minlength=n_rows)
    n_scores = np.bincount(score_row, minlength=n_rows)
    out_of_range = np.zeros(n_rows, dtype=bool)
    out_of_range[score_row[~((values >= 0) & (values <= 1))]] = True
    rows.report(out_of_range, lambda _: "a score is not a number from 0 to 1", "Correct it")
    rows.report(
        n_concepts != n_scores,
        lambda row: f"has {n_scores[row]} scores for {n_concepts[row]} concepts",
        "Write one score a concept",
    )

    # Both are in the order of the rows, so that the scores of sound rows pair with their concepts.
    scores = np.full(len(cells.row), np.nan)
    is_sound = ~rows.bad
    scores[is_sound[cells.row]] = values[is_sound[score_row]]
    return scores


def _scores_of(column: pa.Array, cells: Cells, rows: RowProblems) -> tuple[IntArray, FloatArray]:
    """Row and value of each score: of text, of one number a row, or of lists of numbers."""
    if pa.types.is_floating(column.type):
        values = _floats(column)
        filled = ~np.isnan(values)
        return np.flatnonzero(filled), values[filled]

    if column.type == TEXT:
        text = pc.fill_null(column, "")
        is_listed = pc.any(pc.match_substring(text, "[")).as_py()
        delimiter = "," if is_listed else cells.delimiter or "|"
        row, items = _flat(pc.split_pattern(pc.utf8_trim(text, " \t[]"), delimiter))
        filled = pc.not_equal(pc.utf8_trim_whitespace(items), "").to_numpy(zero_copy_only=False)
        row, items = row[filled], items.filter(pa.array(filled))
    else:
        row, items = _flat(column)
        if pa.types.is_struct(items.type):
            raise rows.problems.fatal(
                "the scores column holds structures", "Save a list of one number a concept."
            )
        if pa.types.is_dictionary(items.type):
            items = items.dictionary_decode()
    return row, pd.to_numeric(items.to_pandas(), errors="coerce").to_numpy(dtype=np.float64)


def _flat(lists: pa.Array) -> tuple[IntArray, pa.Array]:
    """Flatten a column of lists: the row of each item, and the items."""
    row = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    return row.astype(np.int64, copy=False), pc.list_flatten(lists)


def _floats(column: pa.Array) -> FloatArray:
    values = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _check_names(names: pa.Array, row: IntArray, rows: RowProblems) -> NameColumn:
    column = encode_names(names)
    wrong = np.flatnonzero(column.codes < 0)
    _report_at(wrong, row, lambda item: f"a concept {column.fault(item)}", rows, "Correct its name")
    return column


def _check_numbers(numbers: dict[str, FloatArray], row: IntArray, rows: RowProblems) -> None:
    fix = "Write scores from 0 to 1, and no negative sizes"
    for name, what in (("score", "score"), ("area_px2", "area"), ("w_px", "box"), ("h_px", "box")):
        values = numbers.get(name, np.empty(0))
        most = 1 if name == "score" else np.inf
        wrong = np.flatnonzero((values < 0) | (values > most))
        faults = {item: f"the {what} of a concept is {values[item]:g}" for item in wrong.tolist()}
        _report_at(wrong, row, faults.__getitem__, rows, fix)


def _report_at(
    wrong: IntArray, row: IntArray, reason: Callable[[int], str], rows: RowProblems, fix: str
) -> None:
    """Report rows by their concepts that are wrong; `reason` describes a concept."""
    mask = np.zeros(len(rows.bad), dtype=bool)
    mask[row[wrong]] = True
    rows.report(
        mask, lambda bad: reason(int(wrong[np.searchsorted(row[wrong], bad, "right") - 1])), fix
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
        fault = decoding_fault(error)
        # Python prints texts in single quotes, so that a list without any was meant as JSON.
        if cell.startswith("[") and "'" not in cell:
            raise ValueError(fault) from None

    if _PRINTED.fullmatch(cell):
        return [_ESCAPE.sub(_unescape, item[1:-1]) for item in _ITEMS.findall(cell)]

    try:
        with warnings.catch_warnings():
            # Python warns of escapes that it would not write itself.
            warnings.simplefilter("error")
            return msgspec.convert(ast.literal_eval(cell), Items)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise ValueError(fault) from None


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(int(code, 16))
    return _LETTERS.get(match[4], match[4])
