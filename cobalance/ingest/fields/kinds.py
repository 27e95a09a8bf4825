"""Guess the use of a column from its values, or why to leave it out."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from cobalance.base.arrays import BoolArray
from cobalance.ingest.fields.lists import concept_list
from cobalance.ingest.fields.values import Values
from cobalance.ingest.tables.concept_cells import DELIMITERS, parse_list, starts_list

_PLACE = re.compile(r"^([a-z][a-z0-9+.-]+://|data:|[A-Za-z]:\\)|\S\.[A-Za-z][A-Za-z0-9]{1,4}$")
_DATE = re.compile(r"(1[6-9]|20)\d\d[-/:.](0?[1-9]|1[0-2])[-/:.](0?[1-9]|[12]\d|3[01])(\D|$)")
_ID = re.compile(r"(?i:(^|.*[_\s-])(ids?|idx|index|uuid|guid|hash|md5))|.*[a-z]I[dD]")
_MOST_VALUES = 100
_MOST_OF_ALL = 1_000
_EACH = 20  # records a value, where there are more than `_MOST_VALUES`
_FEW = 10
_MOST_CODES = 20
_FREE_WORDS = 5.0
_MOSTLY = 0.95


def guess_kind(name: str, values: Values) -> tuple[str, str]:
    """Use of a column, as the option ``field`` names it, and the reason."""
    n, different = values.filled, len(values.distinct)
    if not n:
        return "ignore", "no value"
    flags = [each is not None for each in values.flags()] if different <= _FEW else []
    if flags and all(flags):
        return "flag", ""
    first = pd.to_numeric(pd.Series(values.sample), errors="coerce")
    few = 2 * first.isna().sum() > len(first)
    numeric = np.zeros(different, dtype=bool) if few else np.isfinite(values.numbers)
    if flags and _share(values, np.array(flags)) and not numeric[~np.array(flags)].any():
        return "flag", ""
    if _share(values, numeric):
        return _guess_numbers(name, values)
    said = values.sample
    if _most(said, lambda text: _DATE.match(text) is not None):
        return "ignore", "dates, of which a part may be asked for: year, month, weekday or hour"
    unique = 2 * different > n
    if _most(said, lambda text: _PLACE.search(text) is not None) or (
        unique and _most(said, lambda text: "/" in text or "\\" in text)
    ):
        return "ignore", "names of files, or addresses"
    if is_list(said):
        return "list", ""
    if _most(said, lambda text: text[0] in "[{"):
        return "ignore", "lists or objects that name nothing"
    if different > _FEW and np.mean([len(text.split()) for text in said]) >= _FREE_WORDS:
        return "ignore", "free text"
    digits = _most(said, lambda text: any(map(str.isdigit, text)))
    if (unique and n > 20) or (10 * different > 9 * n and (n > 10 or (n > 1 and digits))):
        return "ignore", "nearly every record has a value of its own, as ids have"
    if different > _MOST_VALUES and (different > _MOST_OF_ALL or n < _EACH * different):
        return "ignore", f"{different:,} different values in {n:,} records"
    if different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{said[0][:60]!r} in every record"
    return "values", ""


def _guess_numbers(name: str, values: Values) -> tuple[str, str]:
    known = values.numbers[np.isfinite(values.numbers)]
    n, different = values.filled, len(known)
    spread = known.max() - known.min() + 1
    whole = bool((known == np.round(known)).all())
    if different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{known[0]:g} in every record"
    if whole and 1 < different == n and spread <= 2 * n:
        return "ignore", "nearly every record has a number of its own, as ids have"
    codes = whole and known.min() in (0, 1) and spread == different <= _MOST_CODES
    if different < n and (different <= _FEW or codes) and (n >= 2 * different or codes):
        return "values", ""
    if whole and _ID.fullmatch(name):
        return "ignore", "named like an id"
    return "bins", ""


def is_list(texts: list[str]) -> bool:
    """Whether cells are lists of names: in JSON, as Python prints them, or delimited.

    Examples
    --------
    >>> is_list(["sun|rain", "rain"]), is_list(["Paris, France", "Rome, Italy"])
    (True, False)
    """
    if _most(texts, starts_list):
        return _most(texts, _is_parsed)
    joined = "".join(texts)
    mark = next((mark for mark in DELIMITERS if mark in joined), None)
    cells = [[part.strip() for part in text.split(mark) if part.strip()] for text in texts if mark]
    parts = [part for cell in cells for part in cell]
    words = sum(len(part.split()) for part in parts) / max(len(parts), 1)
    again = len({*parts}) < len(parts) if mark != "," else len({*parts}) <= len(texts)
    return bool(parts) and words <= 3 and again and len(parts) > len(cells)


def _is_parsed(cell: str) -> bool:
    try:
        return parse_list(concept_list(cell) or "") is not None
    except ValueError:
        return False


def _share(values: Values, holds: BoolArray) -> bool:
    """Whether something holds for nearly all records that have a value."""
    return bool(values.counts[holds].sum() >= _MOSTLY * values.filled)


def _most(texts: list[str], fits: Callable[[str], bool]) -> bool:
    return sum(map(bool, map(fits, texts))) >= _MOSTLY * len(texts)
