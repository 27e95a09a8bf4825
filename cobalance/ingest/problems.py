"""Malformed records: raise for the first one, or skip and report them all."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import (
    Annotations,
    BoolArray,
    InputError,
    IntArray,
    Part,
    Setting,
    Text,
    parts_of,
)
from cobalance.ingest.options import ReadOptions

_DEFAULTS = ReadOptions()
_MISSING = "refers to {!r}, which is not there"
# What Python and msgspec say of values.
_CUT = re.compile("truncated")
_NO_NUMBER = re.compile(r"(?:could not convert string to float|invalid literal for int.*): (.*)")
_UNPACKING = re.compile(r"values to unpack|zip\(\) argument")
_OVER = {
    "columns": "has more than {:,} columns",
    "rows": "has more than {:,} rows",
    "mentions": "has more than {:,} concepts in its rows",
    "table_mb": "takes more than {:,} MB of memory as a table",
    "skipped": "has more than {:,} malformed records",
}


class SkippedRecord(str):
    """Message about a skipped malformed record, with the error that was not raised."""

    error: InputError

    def __new__(cls, error: InputError) -> "SkippedRecord":
        """Attach the error to its message."""
        self = super().__new__(cls, str(error))
        self.error = error
        return self


class Problems:
    """Collects the malformed records of one file.

    Parameters
    ----------
    file : str
        The file as the user named it.
    options : ReadOptions
        Whether to raise at the first malformed record or to collect a message for each, and what
        the file may hold.

    Examples
    --------
    >>> problems = Problems("a.csv", ReadOptions(on_error="skip"))
    >>> problems.record("line 3", "the class is empty", "Fill it in")
    >>> problems.messages
    ['a.csv, line 3: the class is empty. Fill it in.']
    """

    def __init__(self, file: str, options: ReadOptions = _DEFAULTS) -> None:
        self.file, self.options = file, options
        self.messages: list[str] = []

    def beside(self, file: str) -> "Problems":
        """Problems of a second file that is read along with this one."""
        other = Problems(file, self.options)
        other.messages = self.messages
        return other

    def record(self, place: str, reason: str, fix: Text, more: int = 0) -> None:
        """Raise for a malformed record, or note that it is skipped.

        `place` is in the format's own terms, such as ``"line 3"``; `reason` and `fix`, what to do
        about it, are clauses without the final full stop; `more` other records have the same fault.
        """
        if self.options.on_error == "fail":
            others = f" (and {more:,} more like it)" if more else ""
            skip = (", or leave such records out with ", Setting("on_error", "skip"), ".")
            raise InputError(self.file, place, reason + others, (*parts_of(fix), *skip))

        self.within("skipped", len(self.messages) + 1)
        error = InputError(self.file, place, reason, (*parts_of(fix), "."))
        self.messages.append(SkippedRecord(error))

    def fatal(self, reason: str, remedy: Text, place: str | None = None) -> InputError:
        """The error for a fault of the whole file, which skipping cannot fix."""
        return InputError(self.file, place, reason, remedy)

    def within(
        self, limit: str, number: float, place: str | None = None, what: str | None = None
    ) -> None:
        """Raise InputError for more than a limit allows, such as ``"rows"`` for `max_rows`.

        `number` is of columns, rows or records so far, or of bytes for ``"table_mb"``; `what` is
        what there are more of, where it is not what the limit says.
        """
        most: int = getattr(self.options, f"max_{limit}")

        if number > (most * 1_000_000 if limit == "table_mb" else most):
            over = _OVER[limit] if what is None else f"has more than {{:,}} {what}"
            raise self.fatal(
                over.format(most),
                ("If that is meant, set ", Setting(f"max_{limit}"), " higher."),
                place,
            )


def describe_fault(error: Exception) -> str:
    """Describe an error in a file's content as a clause, without Python's words for it.

    Examples
    --------
    >>> describe_fault(KeyError("bbox")), describe_fault(KeyError(14))
    ("has no 'bbox'", 'refers to 14, which is not there')
    >>> describe_fault(ValueError("could not convert string to float: 'wide'"))
    "has 'wide' where a number belongs"
    """
    message = str(error)
    match error:
        case KeyError():
            key = error.args[0] if error.args else ""
            return f"has no {key!r}" if isinstance(key, str) else _MISSING.format(key)
        case IndexError():
            return "has a list that is too short, or refers to an entry that is not there"
        case AttributeError() | TypeError() | StopIteration():
            return "has a value of another kind than the format says"
        case OverflowError() | ZeroDivisionError():
            return "has a number that is too large, or 0 where it must not be"
        case OSError():
            name = str(error.filename or "a file").rpartition("/")[2]
            return f"needs {name}, which cannot be read ({error.strerror or message})"
        case _ if _CUT.search(message):
            return "ends in the middle of a value"

    if number := _NO_NUMBER.search(message):
        return f"has {number[1]} where a number belongs"
    if _UNPACKING.search(message):
        return "has a list with more or fewer values than the format says"
    return message


def reword(error: InputError, old: str, new: str) -> InputError:
    """The same error with other words for a file."""

    def replace_in(text: Text) -> list[Part]:
        return [
            part.replace(old, new) if isinstance(part, str) else part for part in parts_of(text)
        ]

    record = error.record and error.record.replace(old, new)
    file = error.file.replace(old, new)
    return InputError(file, record, replace_in(error.reason), replace_in(error.remedy))


def reword_all(annotations: Annotations, old: str, new: str) -> Annotations:
    """The same annotations with other words for a file in messages and notes."""
    skipped = (
        SkippedRecord(reword(message.error, old, new))
        if isinstance(message, SkippedRecord)
        else message.replace(old, new)
        for message in annotations.skipped
    )
    notes = tuple(note.replace(old, new) for note in annotations.notes)
    return replace(annotations, skipped=tuple(skipped), notes=notes)


class RowProblems:
    """Tracks which of `n` records of a file are malformed; each is reported once to `problems`.

    `place` names the record of a row.
    """

    def __init__(self, problems: Problems, n: int, place: Callable[[int], str]) -> None:
        self.problems, self.place = problems, place
        self.bad: BoolArray = np.zeros(n, dtype=bool)

    def report(self, faulty: BoolArray, reason: Callable[[int], str], fix: Text) -> None:
        """Report faulty rows that were not reported before.

        `faulty` has the shape (n,); `reason` gives the fault of a row's record, and `fix` is what
        to do about it, as clauses.
        """
        new = np.flatnonzero(faulty & ~self.bad).tolist()
        for row in new:
            self.problems.record(self.place(row), reason(row), fix, len(new) - 1)
        self.bad[new] = True


def first_rows(keys: "pd.Index[Any]") -> IntArray:
    """Position of the first equal key, for each key.

    Examples
    --------
    >>> first_rows(pd.Index(["a", "b", "a"])).tolist()
    [0, 1, 0]
    """
    rows = np.arange(len(keys), dtype=np.int64)
    if keys.is_unique:
        return rows

    codes, distinct = pd.factorize(keys)
    first = np.empty(len(distinct), dtype=np.int64)
    # Backwards, so that the first of equal keys is written last.
    first[codes[::-1]] = rows[::-1]
    return first[codes]
