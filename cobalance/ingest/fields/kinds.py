"""Guess the use of a column from its values, or why to leave it out."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from cobalance.base import BoolArray
from cobalance.ingest.fields.lists import concept_list
from cobalance.ingest.fields.values import Values
from cobalance.ingest.tables.concept_cells import (
    delimited_parts,
    parse_list,
    starts_list,
    words_in_each,
)

_PLACE = re.compile(r"^([a-z][a-z0-9+.-]+://|data:|[A-Za-z]:\\)|\S\.[A-Za-z][A-Za-z0-9]{1,4}$")
_DATE = re.compile(r"(1[6-9]|20)\d\d[-/:.](0?[1-9]|1[0-2])[-/:.](0?[1-9]|[12]\d|3[01])(\D|$)")
_ID = re.compile(r"(?i:(^|.*[_\s-])(ids?|idx|index|uuid|guid|hash|md5))|.*[a-z]I[dD]")
# Up to `_MOST_VALUES` different values become concepts, and up to `_MOST_OF_ALL` where there are
# `_EACH` records for each of them.
_MOST_VALUES = 100
_MOST_OF_ALL = 1_000
_EACH = 20
# So many different numbers are a scale or codes, more are measured, and go into bins, unless they
# number the values of a column without a gap from 0 or 1, up to `_MOST_CODES`.
_FEW = 10
_MOST_CODES = 20
_FREE_WORDS = 5.0  # on average, from which texts are sentences and no names
_MOSTLY = 0.95  # share of the records that decides, whatever is written in the others


def guess_kind(name: str, values: Values) -> tuple[str, str]:
    """Use of a column, as the option ``field`` names it, and the reason."""
    if not values.filled:
        return "ignore", "no value"
    is_number = _numeric(values)
    if _are_flags(values, is_number):
        return "flag", ""
    if _share(values, is_number):
        return _guess_numbers(name, values)
    return _guess_texts(values)


def _numeric(values: Values) -> BoolArray:
    """Whether each value is a number; none is where most of the first are not."""
    # A column of a million paths is not parsed to learn that none of them is a number.
    first = pd.to_numeric(pd.Series(values.sample), errors="coerce")
    if 2 * first.isna().sum() > len(first):
        return np.zeros(len(values.distinct), dtype=bool)
    return np.isfinite(values.numbers)


def _are_flags(values: Values, is_number: BoolArray) -> bool:
    """Whether nearly all records say yes or no, and the others hold no further number."""
    if len(values.distinct) > _FEW:
        return False
    is_flag = values.are_flags()
    return _share(values, is_flag) and not is_number[~is_flag].any()


def _guess_texts(values: Values) -> tuple[str, str]:
    """Use of a column of texts, from the plainest forms to what its counts say."""
    n, n_different, sample = values.filled, len(values.distinct), values.sample
    if _most(sample, _DATE.match):
        return "ignore", "dates, of which a part may be asked for: year, month, weekday or hour"

    # A slash alone makes a path only where most values differ: "cat/dog" that repeats is a name.
    differ = 2 * n_different > n
    have_slashes = _most(sample, lambda text: "/" in text or "\\" in text)
    if _most(sample, _PLACE.search) or (differ and have_slashes):
        return "ignore", "names of files, or addresses"
    if is_list(sample):
        return "list", ""
    if _most(sample, lambda text: text[0] in "[{"):
        return "ignore", "lists or objects that name nothing"
    if n_different > _FEW and words_in_each(sample) >= _FREE_WORDS:
        return "ignore", "free text"

    # The fewer records there are, the more of their values differ by chance.
    nearly_all_differ = 10 * n_different > 9 * n
    have_digits = _most(sample, lambda text: any(map(str.isdigit, text)))
    if (differ and n > 20) or (nearly_all_differ and (n > 10 or (n > 1 and have_digits))):
        return "ignore", "nearly every record has a value of its own, as ids have"
    if n_different > _MOST_VALUES and (n_different > _MOST_OF_ALL or n < _EACH * n_different):
        return "ignore", f"{n_different:,} different values in {n:,} records"
    if n_different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{sample[0][:60]!r} in every record"
    return "values", ""


def _guess_numbers(name: str, values: Values) -> tuple[str, str]:
    """Use of a column of numbers: codes, ids, or measures to put into bins."""
    numbers = values.numbers[np.isfinite(values.numbers)]
    n, n_different = values.filled, len(numbers)
    span = numbers.max() - numbers.min() + 1
    are_whole = bool((numbers == np.round(numbers)).all())
    if n_different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{numbers[0]:g} in every record"
    if are_whole and 1 < n_different == n and span <= 2 * n:
        return "ignore", "nearly every record has a number of its own, as ids have"

    are_codes = are_whole and numbers.min() in (0, 1) and span == n_different <= _MOST_CODES
    repeat_often = n_different <= _FEW and n >= 2 * n_different
    if n_different < n and (are_codes or repeat_often):
        return "values", ""
    if are_whole and _ID.fullmatch(name):
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
    mark, parts = delimited_parts(texts)
    if len(parts) <= len(texts) or words_in_each(parts) > 3:
        return False

    # A comma is in names, too: "Paris, France" and "Rome, Italy" share no part, but tags do.
    n_different = len({*parts})
    return n_different <= len(texts) if mark == "," else n_different < len(parts)


def _is_parsed(cell: str) -> bool:
    try:
        return parse_list(concept_list(cell) or "") is not None
    except ValueError:
        return False


def _share(values: Values, holds: BoolArray) -> bool:
    """Whether something holds for nearly all records that have a value."""
    return bool(values.counts[holds].sum() >= _MOSTLY * values.filled)


def _most(texts: list[str], fits: Callable[[str], object]) -> bool:
    """Whether nearly all texts fit."""
    return sum(map(bool, map(fits, texts))) >= _MOSTLY * len(texts)
