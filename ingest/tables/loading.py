"""Tables as columns, and the interface of table formats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from graph.progress import Progress
from ingest.frames import TEXT
from ingest.problems import Problems, RowProblems

CHUNK = 65_536  # rows turned into columns at once


@dataclass(frozen=True, eq=False)
class Table:
    """A table as columns.

    Parameters
    ----------
    problems : Problems
        What is wrong with the file's records.
    columns : dict of str to pyarrow.Array
        Text (``large_string``, null where missing), and from typed files also floats, and lists of
        text or of structures.
    n_rows : int
        How many rows.
    place : callable
        Names the record of a row: ``"line 14"``.
    unusable : dict of str to str
        Types of the columns that cannot be used for anything, such as images.
    concept_columns : tuple of str
        Columns of one concept each, where the format itself says so.
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
        """What the format is, in one line."""

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has this format, judged by its content."""

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; malformed ones are reported and skipped."""


def text_table(chunks: Mapping[str, list[pa.Array]], lines: list[int], problems: Problems) -> Table:
    """Join chunks of columns into a table whose rows are lines of a file."""
    columns = {
        name: pa.chunked_array(arrays, TEXT).combine_chunks() for name, arrays in chunks.items()
    }
    return Table(problems, columns, len(lines), lambda row: f"line {lines[row]}")


class TextColumns:
    """Collects rows of text into columns, chunk by chunk to save memory.

    Parameters
    ----------
    names : list of str
        Of the columns.
    problems : Problems
        Where text that is not UTF-8 is reported.
    """

    def __init__(self, names: list[str], problems: Problems) -> None:
        self.names, self.problems = names, problems
        self._chunks: list[list[pa.Array]] = [[] for _ in names]
        self._rows: list[Sequence[str | None]] = []
        self._lines: list[int] = []
        self._kept_lines: list[int] = []

    def add(self, line: int, row: Sequence[str | None]) -> bool:
        """Add the row of a line; True if that completed a chunk."""
        self._rows.append(row)
        self._lines.append(line)
        if len(self._rows) < CHUNK:
            return False
        self._flush()
        return True

    def table(self) -> Table:
        """All rows as a table."""
        self._flush()
        chunks = dict(zip(self.names, self._chunks, strict=True))
        return text_table(chunks, self._kept_lines, self.problems)

    def _flush(self) -> None:
        try:
            arrays = self._arrays()
        except UnicodeEncodeError:
            self._drop_undecodable()
            arrays = self._arrays()
        for chunks, array in zip(self._chunks, arrays, strict=True):
            chunks.append(array)
        self._kept_lines += self._lines
        self._rows, self._lines = [], []

    def _arrays(self) -> list[pa.Array]:
        if not self._rows:
            return [pa.array([], TEXT) for _ in self.names]
        return [pa.array(values, TEXT) for values in zip(*self._rows, strict=True)]

    def _drop_undecodable(self) -> None:
        """Report and drop rows that are not UTF-8 (read as lone surrogates)."""
        sound = []
        for position, row in enumerate(self._rows):
            try:
                "".join(text or "" for text in row).encode()
            except UnicodeEncodeError as error:
                byte = ord(error.object[error.start]) & 0xFF
                self.problems.record(
                    f"line {self._lines[position]}",
                    f"the byte 0x{byte:02x} is not UTF-8",
                    "Save the file as UTF-8",
                )
            else:
                sound.append(position)
        self._rows = [self._rows[position] for position in sound]
        self._lines = [self._lines[position] for position in sound]
