"""Tables as columns, checks of their names, and the interface of table formats."""

from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pyarrow as pa

from cobalance.base import Progress, clean_name
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import name_fault
from cobalance.ingest.problems import Problems, RowProblems

CHUNK = 65_536
"""Rows converted to columns at once."""
CHUNK_CELLS = 1 << 21
"""Cells after which fewer rows are converted."""
_CELL_CHARACTERS = 64  # that count as a cell more
EMPTY_CELL = 8
"""Bytes that a null takes in a column of text."""
Row = TypeVar("Row", bound=Collection[str | None])


@dataclass(frozen=True, eq=False)
class Table:
    """A table as columns.

    Parameters
    ----------
    problems : Problems
        Collects the malformed records.
    columns : dict of str to pyarrow.Array
        Text (``large_string``, null where missing); from typed files also floats, and lists of
        text, of codes of text (a dictionary) or of structures.
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
        return RowProblems(self.problems, self.n_rows, self.place)


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

    `problems` collects the rows that are not UTF-8; `convert` makes of the others a table of
    ``large_string`` columns. Chunks may differ in their columns.
    """

    place = "line"  # what the numbers of rows count

    def __init__(self, problems: Problems, convert: Callable[[list[Row]], pa.Table]) -> None:
        self._problems, self._convert = problems, convert
        self._chunks: list[pa.Table] = []
        self._lines = array("q")
        self._pending: list[tuple[int, Row]] = []
        self._names: set[str] = set()
        self._cells = self._bytes = 0

    def add(self, line: int, row: Row, characters: int = 0) -> bool:
        """Add the row of a line; True if that completed a chunk, by rows or by size."""
        self._pending.append((line, row))
        self._cells += len(row) + characters // _CELL_CHARACTERS
        if len(self._pending) < CHUNK and self._cells < CHUNK_CELLS:
            return False
        self._flush()
        return True

    def table(self) -> Table:
        """All rows as a table, null where a chunk lacks a column."""
        self._flush()
        joined = pa.concat_tables(self._chunks, promote_options="default")
        self._chunks.clear()
        names = column_names(joined.column_names, self._problems)
        columns = take_columns(joined, names)
        lines, place = self._lines, self.place
        return Table(self._problems, columns, len(lines), lambda row: f"{place} {lines[row]}")

    def _flush(self) -> None:
        try:
            chunk = self._convert([row for _, row in self._pending])
        except UnicodeEncodeError:
            self._pending = [pair for pair in self._pending if self._is_decoded(*pair)]
            chunk = self._convert([row for _, row in self._pending])
        self._chunks.append(chunk)
        self._lines.extend(line for line, _ in self._pending)

        self._pending, self._cells = [], 0
        self._names.update(chunk.column_names)
        self._bytes += chunk.nbytes

        n_cells = len(self._names) * len(self._lines)
        self._problems.within("columns", len(self._names))
        self._problems.within("rows", len(self._lines))
        self._problems.within("table_mb", max(self._bytes, EMPTY_CELL * n_cells))

    def _is_decoded(self, line: int, row: Row) -> bool:
        """Whether a row is UTF-8; other bytes were read as lone surrogates and are reported."""
        try:
            "".join(filter(None, row)).encode()
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) & 0xFF
            self._problems.record(
                f"line {line}", f"the byte 0x{byte:02x} is not UTF-8", "Save the file as UTF-8"
            )
            return False
        return True


def take_columns(table: pa.Table, names: Sequence[str]) -> dict[str, pa.Array]:
    """Take a table apart into columns of one piece, each freed where it was before."""
    # Backwards, as the last is the cheapest to take off.
    chunked = table.columns[::-1]
    del table
    columns = {}
    for name in names:
        pieces = chunked.pop()
        columns[name] = pieces.chunk(0) if pieces.num_chunks == 1 else pieces.combine_chunks()
    return columns


def text_rows(names: Sequence[str], problems: Problems) -> Rows[Sequence[str | None]]:
    """Collect rows of text with one cell for each column."""

    def convert(rows: list[Sequence[str | None]]) -> pa.Table:
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return pa.table([pa.array(cells, TEXT) for cells in columns], names=names)

    return Rows(problems, convert)


def column_names(given: Sequence[str], problems: Problems, place: str | None = None) -> list[str]:
    """Clean the names of a table's columns as those in its cells; a nameless one is numbered.

    Parameters
    ----------
    place : str or None
        Position of the names in the file, for errors.

    Raises
    ------
    InputError
        There are more columns than the limit, two have one name, or a name cannot be used.

    Examples
    --------
    >>> column_names([" id", "", "cafe\u0301"], Problems("a.csv"))
    ['id', 'column 2', 'café']
    """
    problems.within("columns", len(given), place)
    names = [clean_name(name) or f"column {number}" for number, name in enumerate(given, start=1)]

    seen = set()
    for name in names:
        fault = name_fault(name)
        if fault is not None:
            # Text files are read with bytes that are not UTF-8 as such characters.
            byte = next((ord(mark) & 0xFF for mark in name if "\udc80" <= mark <= "\udcff"), None)
            if byte is not None:
                raise problems.fatal(
                    f"the byte 0x{byte:02x} is not UTF-8", "Save the file as UTF-8.", place
                )
            short = name if len(name) <= 60 else f"{name[:60]}…"
            raise problems.fatal(
                f"the column name {short!r} {fault}", "Give the column another name.", place
            )

        if name in seen:
            raise problems.fatal(
                f"two columns are named {name!r}", "Give each column a name of its own.", place
            )
        seen.add(name)
    return names
