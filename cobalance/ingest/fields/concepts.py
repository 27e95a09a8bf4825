"""The concepts of one column, as a person chose or as its values suggest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import FloatArray, InputError, IntArray, Setting
from cobalance.ingest.fields.bins import equal_count_edges, equal_width_edges, name_bins, unit_of
from cobalance.ingest.fields.choices import BINNED, Choice
from cobalance.ingest.frames import TEXT, take_rows
from cobalance.ingest.names import put_before, rename_some
from cobalance.ingest.problems import Problems, RowProblems
from cobalance.ingest.tables.concept_cells import read_cells, with_lists
from cobalance.ingest.tables.guesses import (
    CONCEPT_COLUMNS,
    guess_kind,
    is_plural,
    normal_name,
)
from cobalance.ingest.tables.values import Values, encode_values, name_values

_DATE = r"^(\d{4})[-/:.](\d{1,2})[-/:.](\d{1,2})"
_ZONE = r"\s*(Z|UTC|[+-]\d{2}:?\d{2})$"
UNNAMED = "codes without names"
_NONE: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ColumnConcepts:
    """Record and concept, a code of `names`, of each mention that a column stands for.

    `missing` counts the records without a value, `why` is what to know, and `numbers` are scores,
    areas and boxes of objects in lists.
    """

    kind: str
    record: IntArray
    code: IntArray
    names: list[str]
    missing: int = 0
    why: str = ""
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)


def read_column(
    name: str, cells: pa.Array, choice: Choice | None, names: Mapping[str, str], problems: Problems
) -> ColumnConcepts:
    """Find the concepts of a column; `names` are of its codes.

    Raises
    ------
    InputError
        Its values are not of the chosen kind.
    """
    if pa.types.is_nested(cells.type):
        values = Values(np.where(cells.is_null(), -1, 0), pa.array([""], TEXT))
        kind, why = "list", ""
    else:
        values = encode_values(name_values(cells, names))
        kind, why = guess_kind(name, values)
        if names and kind != "list":
            kind, why = "values", ""
    if choice:
        kind, why = choice.kind, ""

    missing = len(values.codes) - values.filled
    if kind == "ignore":
        return ColumnConcepts(kind, _NONE, _NONE, [], missing, why)
    if kind == "list":
        filled = pc.if_else(pa.array(values.codes >= 0), cells, pa.scalar(None, cells.type))
        listed = _read_lists(name, filled, names, problems)
        return replace(listed, missing=missing, why=why)

    fault, code, concepts, why = _READ[kind](name, values, choice or Choice(kind))
    if choice and not choice.fits and values.filled:
        _check_choice(name, values, code, kind, fault, problems)
    if choice and why == UNNAMED:
        why = ""
    of_record = np.append(code, -1)[values.codes]
    record = np.flatnonzero((of_record >= 0) & (of_record < len(concepts)))
    return ColumnConcepts(
        kind, record, of_record[record], concepts, int((of_record < 0).sum()), why
    )


def _read_lists(
    name: str, column: pa.Array, names: Mapping[str, str], problems: Problems
) -> ColumnConcepts:
    """Read each thing in a column of lists.

    Names of objects, and those in a column that is called as concepts are, are the concepts; others
    are of the column's category; `names` are of codes. Cells that cannot be read are left out.
    """
    # However many cells are no lists: that the column holds lists may be no more than a guess.
    lenient = replace(problems.options, on_error="skip", max_skipped=problems.options.max_mentions)
    rows = RowProblems(
        Problems(problems.file, lenient), len(column), lambda row: f"record {row + 1}"
    )
    may_be_spaced = normal_name(name) in CONCEPT_COLUMNS or is_plural(name)
    cells = read_cells(with_lists(column), None, rows, may_be_spaced=may_be_spaced)

    is_sound = (cells.concept.codes >= 0) & ~rows.bad[cells.row]
    concepts = rename_some(cells.concept.names, names)
    if not cells.has_objects and normal_name(name) not in CONCEPT_COLUMNS:
        concepts = put_before(name, concepts)
    return ColumnConcepts(
        "list",
        cells.row[is_sound],
        cells.concept.codes[is_sound],
        concepts,
        numbers=take_rows(cells.numbers, is_sound),
    )


def _check_choice(
    name: str, values: Values, code: IntArray, kind: str, fault: str, problems: Problems
) -> None:
    """Raise if no value is of the chosen kind; of flags one that is none is enough."""
    is_wrong, strict = code < 0, False
    if kind in ("flag", "two"):
        is_wrong = ~values.are_flags()
        strict = problems.options.on_error == "fail"

    if is_wrong.all() or (strict and is_wrong.any()):
        example = values.texts[int(np.argmax(is_wrong))]
        raise InputError(
            problems.file,
            None,
            f"the column {name!r} holds {example[:60]!r}, and {fault}",
            ("Set ", Setting("field"), f" to {name}=values, or leave it out."),
        )


_Coded = tuple[str, IntArray, list[str], str]
"""What a value is not where its code is -1, a code of each value, names of codes, a remark.

Codes beyond the names are no concepts.
"""


def _of_values(name: str, values: Values, _choice: Choice) -> _Coded:
    numbers = values.numbers
    are_whole = bool(len(numbers)) and bool((numbers == np.round(numbers)).all())
    names = put_before(name, values.texts)
    return "nothing", np.arange(len(names)), names, UNNAMED if are_whole else ""


def _of_flags(name: str, values: Values, choice: Choice) -> _Coded:
    flags = np.array(values.flags(), dtype=np.float64)
    # A present concept has the code 0, an absent one 1, which "flag" has no name for.
    code = np.where(np.isnan(flags), -1, 1 - np.nan_to_num(flags)).astype(np.int64)
    names = [name, f"no {name}"] if choice.kind == "two" else [name]
    may_be_codes = {*values.texts} <= {"0", "1", "0.0", "1.0"}
    return "no 0 or 1", code, names, UNNAMED if may_be_codes else ""


def _of_bins(name: str, values: Values, choice: Choice) -> _Coded:
    category, unit = unit_of(name)
    edges = bin_edges(values, choice)
    bins = np.digitize(np.nan_to_num(values.numbers), edges)
    code = np.where(np.isfinite(values.numbers), bins, -1)
    names = put_before(category, name_bins(edges, choice.unit or unit))
    return "no number", code, names, f"edges {', '.join(map('{:g}'.format, edges))}"


def bin_edges(values: Values, choice: Choice) -> list[float]:
    """Inner edges of the bins of a column's numbers."""
    if choice.edges:
        return list(choice.edges)
    if choice.kind == "widths":
        return equal_width_edges(values.numbers, choice.n_bins)
    return equal_count_edges(values.numbers[values.codes[values.codes >= 0]], choice.n_bins)


def _of_dates(name: str, values: Values, choice: Choice) -> _Coded:
    # Dates become ISO 8601; their zones go, as a part is that of the clock where it was taken.
    texts = pd.Series(values.texts, dtype=str).str.replace(_ZONE, "", regex=True)
    texts = texts.str.replace(_DATE, r"\1-\2-\3", regex=True)
    dates = pd.to_datetime(texts, errors="coerce", format="ISO8601").dt

    parts = {
        "year": dates.strftime("%Y"),
        "month": dates.month_name(),
        "weekday": dates.day_name(),
        "hour": dates.strftime("%H:00"),
    }

    code, distinct = pd.factorize(parts[choice.kind])
    return "no date", code, put_before(name, distinct), ""


_READ: dict[str, Callable[[str, Values, Choice], _Coded]] = {
    "values": _of_values,
    **dict.fromkeys(("flag", "two"), _of_flags),
    **dict.fromkeys(BINNED, _of_bins),
    **dict.fromkeys(("year", "month", "weekday", "hour"), _of_dates),
}
