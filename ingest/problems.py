"""Malformed records: the first one ends the reading, or all are left out and reported."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from graph.arrays import BoolArray, IntArray
from graph.errors import InputError, Setting, Text, parts_of
from ingest.options import OnError


class SkippedRecord(str):
    """The message about a malformed record that was left out.

    Parameters
    ----------
    error : InputError
        What would have been raised, with file, record, reason and remedy.
    """

    error: InputError

    def __new__(cls, error: InputError) -> "SkippedRecord":
        """Give the error's message, and keep the error beside it."""
        self = super().__new__(cls, str(error))
        self.error = error
        return self


class Problems:
    """What is wrong with the records of one file.

    Parameters
    ----------
    file : str
        The file as the user named it.
    on_error : {"fail", "skip"}
        Whether to raise at the first malformed record or to collect a message for each.

    Examples
    --------
    >>> problems = Problems("a.csv", "skip")
    >>> problems.record("line 3", "the class is empty", "Fill it in")
    >>> problems.messages
    ['a.csv, line 3: the class is empty. Fill it in.']
    """

    def __init__(self, file: str, on_error: OnError) -> None:
        self.file, self.on_error = file, on_error
        self.messages: list[str] = []

    def beside(self, file: str) -> "Problems":
        """Follow a second file that is read for the sake of this one, with the same messages."""
        other = Problems(file, self.on_error)
        other.messages = self.messages
        return other

    def record(self, place: str, reason: str, fix: Text, more: int = 0) -> None:
        """Raise for a malformed record, or note that it is left out.

        Parameters
        ----------
        place : str
            Where it is, in the format's own terms.
        reason, fix : str, or parts of one
            Clauses without the final full stop: what is wrong, and what to do.
        more : int
            How many other records have the same fault.
        """
        if self.on_error == "fail":
            others = f" (and {more:,} more like it)" if more else ""
            skip = (", or leave such records out with ", Setting("on_error", "skip"), ".")
            raise InputError(self.file, place, reason + others, (*parts_of(fix), *skip))
        error = InputError(self.file, place, reason, (*parts_of(fix), "."))
        self.messages.append(SkippedRecord(error))

    def fatal(self, reason: str, remedy: Text, place: str | None = None) -> InputError:
        """Give the error for a fault of the file as a whole, which skipping cannot mend."""
        return InputError(self.file, place, reason, remedy)

    def rows(self, n: int, place: Callable[[int], str]) -> "RowProblems":
        """Follow which of `n` records are malformed; `place` names the record of a row."""
        return RowProblems(self, n, place)


class RowProblems:
    """Which records of a file are malformed, each reported once, for its first fault.

    Parameters
    ----------
    problems : Problems
        Where they are reported.
    n : int
        How many records.
    place : callable
        Names the record of a row.
    """

    def __init__(self, problems: Problems, n: int, place: Callable[[int], str]) -> None:
        self.problems, self.place = problems, place
        self.bad: BoolArray = np.zeros(n, dtype=bool)

    def report(self, faulty: BoolArray, reason: Callable[[int], str], fix: Text) -> None:
        """Report every faulty row that was sound so far.

        Parameters
        ----------
        faulty : bool array, shape (n,)
            True where the record is malformed.
        reason : callable
            What is wrong with the record of a row, as a clause.
        fix : str
            What to do about it, as a clause.
        """
        new = np.flatnonzero(faulty & ~self.bad).tolist()
        for row in new:
            self.problems.record(self.place(row), reason(row), fix, len(new) - 1)
        self.bad[new] = True


def first_rows(keys: "pd.Index[Any]") -> IntArray:
    """Give for each key the position of the first equal one: its own, unless it is a repeat.

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
    first[codes[::-1]] = rows[::-1]
    return first[codes]
