"""The concepts of one column, as a person chose or as its values suggest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.base.errors import InputError, Setting
from cobalance.ingest.fields.bins import equal_count_edges, equal_width_edges, name_bins, unit_of
from cobalance.ingest.fields.choices import BINNED, Choice
from cobalance.ingest.fields.kinds import guess_kind
from cobalance.ingest.fields.lists import read_lists
from cobalance.ingest.fields.values import Values, encode_values, name_values
from cobalance.ingest.frames import TEXT
from cobalance.ingest.problems import Problems

_DATE = r"^(\d{4})[-/:.](\d{1,2})[-/:.](\d{1,2})"
_ZONE = r"\s*(Z|UTC|[+-]\d{2}:?\d{2})$"
UNNAMED = "codes without names"
_NONE: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Found:
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
) -> Found:
    """Find the concepts of a column; `names` are of its codes.

    Raises
    ------
    InputError
        Its values are not of the chosen kind.
    """
    if pa.types.is_nested(cells.type):
        values = Values(np.where(cells.is_null(), -1, 0), pa.array([""], TEXT))
        guessed = "list", ""
    else:
        values = encode_values(name_values(cells, names))
        guessed = guess_kind(name, values)
        if names and guessed[0] != "list":
            guessed = "values", ""
    kind, why = (choice.kind, "") if choice else guessed
    missing = len(values.codes) - values.filled
    if kind == "ignore":
        return Found(kind, _NONE, _NONE, [], missing, why)
    if kind == "list":
        known = pc.if_else(pa.array(values.codes >= 0), cells, pa.scalar(None, cells.type))
        record, code, things, numbers = read_lists(name, known, names, problems)
        return Found(kind, record, code, things, missing, why, numbers)
    what, code, found, why = _READ[kind](name, values, choice or Choice(kind))
    wrong, strict = code < 0, False
    if kind in ("flag", "two"):
        wrong = np.array([flag is None for flag in values.flags()], dtype=bool)
        strict = problems.options.on_error == "fail"
    if choice and not choice.fits and values.filled and (wrong.all() or (strict and wrong.any())):
        example = values.texts[int(np.argmax(wrong))]
        reason = f"the column {name!r} holds {example[:60]!r}, and {what}"
        remedy = ("Set ", Setting("field"), f" to {name}=values, or leave it out.")
        raise InputError(problems.file, None, reason, remedy)
    why = "" if choice and why == UNNAMED else why
    of_record = np.append(code, -1)[values.codes]
    record = np.flatnonzero((of_record >= 0) & (of_record < len(found)))
    return Found(kind, record, of_record[record], found, int((of_record < 0).sum()), why)


_Coded = tuple[str, IntArray, list[str], str]
"""What a value is not where its code is -1, a code of each value, names of codes, a remark.

Codes beyond the names are no concepts.
"""


def _of_values(name: str, values: Values, _choice: Choice) -> _Coded:
    numbers = values.numbers
    whole = bool(len(numbers)) and bool((numbers == np.round(numbers)).all())
    names = [f"{name}: {text}" for text in values.texts]
    return "nothing", np.arange(len(names)), names, UNNAMED if whole else ""


def _of_flags(name: str, values: Values, choice: Choice) -> _Coded:
    flags = np.array(values.flags(), dtype=np.float64)
    code = np.where(np.isnan(flags), -1, 1 - np.nan_to_num(flags)).astype(np.int64)
    said = UNNAMED if {*values.texts} <= {"0", "1", "0.0", "1.0"} else ""
    return "no 0 or 1", code, [name, f"no {name}"][: 1 + (choice.kind == "two")], said


def _of_bins(name: str, values: Values, choice: Choice) -> _Coded:
    category, unit = unit_of(name)
    known, edges = np.isfinite(values.numbers), bin_edges(values, choice)
    code = np.where(known, np.digitize(np.nan_to_num(values.numbers), edges), -1)
    names = [f"{category}: {each}" for each in name_bins(edges, choice.unit or unit)]
    return "no number", code, names, f"edges {', '.join(f'{edge:g}' for edge in edges)}"


def bin_edges(values: Values, choice: Choice) -> list[float]:
    """Inner edges of the bins of a column's numbers."""
    if choice.edges:
        return list(choice.edges)
    if choice.kind == "widths":
        return equal_width_edges(values.numbers, choice.n_bins)
    return equal_count_edges(values.numbers[values.codes[values.codes >= 0]], choice.n_bins)


def _of_dates(name: str, values: Values, choice: Choice) -> _Coded:
    texts = pd.Series(values.texts, dtype=str).str.replace(_ZONE, "", regex=True)
    texts = texts.str.replace(_DATE, r"\1-\2-\3", regex=True)
    dates = pd.to_datetime(texts, errors="coerce", format="ISO8601").dt
    parts = {
        "year": dates.strftime("%Y"),
        "month": dates.month_name(),
        "weekday": dates.day_name(),
        "hour": dates.strftime("%H:00"),
    }
    code, found = pd.factorize(parts[choice.kind])
    return "no date", code, [f"{name}: {part}" for part in found], ""


_READ: dict[str, Callable[[str, Values, Choice], _Coded]] = {
    "values": _of_values,
    **dict.fromkeys(("flag", "two"), _of_flags),
    **dict.fromkeys(BINNED, _of_bins),
    **dict.fromkeys(("year", "month", "weekday", "hour"), _of_dates),
}
