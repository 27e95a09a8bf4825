"""Tables as columns, and the interface of table formats."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pyarrow as pa

from graph.progress import Progress
from ingest.frames import TEXT
from ingest.problems import Problems, RowProblems

CHUNK = 65_536
"""Rows converted to columns at once."""
Row = TypeVar("Row", bound=Iterable[str | None])


@dataclass(frozen=True, eq=False)
class Table:
    """A table as columns.

    Parameters
    ----------
    problems : Problems
        Collects the malformed records.
    columns : dict of str to pyarrow.Array
        Text (``large_string``, null where missing); from typed files also floats, and lists of
        text or of structures.
    n_rows : int
        Number of rows.
    place : callable
        Names the record of a row for messages: ``"line 14"``.
    unusable : dict of str to str
        Types of the columns that no reader can use, such as images.
    concept_columns : tuple of str
        Columns of one concept each, if the format defines them.
    """

    problems: Problems
    columns: dict[str, pa.Array]
    n_rows: int
    place: Callable[[int], str]
    unusable: dict[str, str] = field(default_factory=dict)
    concept_columns: tuple[str, ...] = ()

    def rows(self) -> RowProblems:
        """Track which rows are malformed."""
        return self.problems.rows(self.n_rows, self.place)


class TableFormat(Protocol):
    """Loader of one table format."""

    @property
    def description(self) -> str:
        """Description of the format in one line."""

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has this format, judged by its content."""

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; malformed ones are reported and skipped."""


class Rows(Generic[Row]):
    """Collects the rows of a text file as columns, chunk by chunk to save memory.

    Parameters
    ----------
    problems : Problems
        Collects the rows that are not UTF-8.
    convert : callable
        Converts rows to a table of ``large_string`` columns. Chunks may differ in their columns.
    """

    def __init__(self, problems: Problems, convert: Callable[[list[Row]], pa.Table]) -> None:
        self._problems, self._convert = problems, convert
        self._chunks: list[pa.Table] = []
        self._lines: list[int] = []
        self._pending: list[tuple[int, Row]] = []

    def add(self, line: int, row: Row) -> bool:
        """Add the row of a line; True if that completed a chunk."""
        self._pending.append((line, row))
        if len(self._pending) < CHUNK:
            return False
        self._flush()
        return True

    def table(self) -> Table:
        """All rows as a table, null where a chunk lacks a column."""
        self._flush()
        joined = pa.concat_tables(self._chunks, promote_options="default")
        columns = {name: joined[name].combine_chunks() for name in joined.column_names}
        lines = self._lines
        return Table(self._problems, columns, len(lines), lambda row: f"line {lines[row]}")

    def _flush(self) -> None:
        try:
            chunk = self._convert([row for _, row in self._pending])
        except UnicodeEncodeError:
            self._pending = [pair for pair in self._pending if self._is_decoded(*pair)]
            chunk = self._convert([row for _, row in self._pending])
        self._chunks.append(chunk)
        self._lines += [line for line, _ in self._pending]
        self._pending = []

    def _is_decoded(self, line: int, row: Row) -> bool:
        """Whether a row is UTF-8; other bytes were read as lone surrogates and are reported."""
        try:
            "".join(text or "" for text in row).encode()
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) & 0xFF
            reason = f"the byte 0x{byte:02x} is not UTF-8"
            self._problems.record(f"line {line}", reason, "Save the file as UTF-8")
            return False
        return True


def text_rows(names: Sequence[str], problems: Problems) -> Rows[Sequence[str | None]]:
    """Collect rows of text with one cell for each column."""

    def convert(rows: list[Sequence[str | None]]) -> pa.Table:
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return pa.table([pa.array(cells, TEXT) for cells in columns], names=names)

    return Rows(problems, convert)
