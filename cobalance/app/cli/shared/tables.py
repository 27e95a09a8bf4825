"""Print a frame as a table for people, or write it as CSV, JSON or Parquet."""

import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cobalance.app.cli.shared.terminal import Terminal, notes, out
from cobalance.base import CobalanceError, pandas as pd, replacing, show_controls
from cobalance.base.safe_text import safe_text
from cobalance.workflows import cells as texts, parquet

# Name of the column of counts, which are floats where some are NaN or a part of an image.
COUNT = "n"

# Widths in characters: of a table in a file, of a text in a narrow table, between two columns.
_WIDE = 200
_NARROW = 12
_BETWEEN = 3

# Parts of images that add up to whole ones miss them by less than this.
_ROUNDING = 1e-6


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@dataclass(frozen=True)
class TableOutput:
    """Where a command's table goes, by ``--format`` and ``--output``; by default the terminal."""

    format: Format = Format.TABLE
    file: Path | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is a table for people, on the terminal or in a file."""
        return self.format is Format.TABLE

    @property
    def is_shown(self) -> bool:
        """Whether it is a table on the terminal."""
        return self.is_table and self.file is None

    def write(
        self,
        frame: "pd.DataFrame",
        console: Console = out,
        *,
        whole: bool = False,
        unbroken: Collection[str] = (),
        spare: Sequence[str] = (),
        remedy: str = " See --format csv.",
    ) -> None:
        """Write a frame to standard output, or to a file.

        A table fits the console: without some columns, or else with a line for each field. Lists in
        cells stay lists in JSON and Parquet, become JSON text in CSV, and are joined with " + " in
        a table. What Parquet has no type for becomes JSON text there, which a note says.

        Parameters
        ----------
        whole : bool
            Cut no text. By default long names are cut if the console is a terminal that is narrower
            than the table.
        unbroken : collection of str
            Columns whose texts stay on one line, such as ids to copy.
        spare : sequence of str
            Columns that a narrow table leaves out first; then the last ones.
        remedy : str
            Where those that are left out can be seen.

        Raises
        ------
        CobalanceError
            The file cannot be written.
        """
        if self.format is Format.PARQUET and self.file is not None:
            _write_parquet(frame, self.file)
            return
        if not self.is_shown:
            write_text(as_text(frame, self.format), self.file)
            return

        fitting = _fitting_columns(frame, console.width, unbroken, spare)
        with _printable():
            if fitting is None:
                console.print(_records(frame))
                return
            console.print(fitting_table(frame[fitting], console, whole=whole, unbroken=unbroken))

        if left_out := [_header(name) for name in frame if name not in fitting]:
            names = ", ".join(left_out)
            notes.print(f"Not shown, as the terminal is narrow: {names}.{remedy}")


def _write_parquet(frame: "pd.DataFrame", file: Path) -> None:
    content, as_json = parquet.to_parquet(frame)
    with replacing(file) as part:
        part.write_bytes(content)
    if as_json:
        notes.print(f"As JSON text, for which Parquet has no type: {', '.join(as_json)}.")


def write_text(text: str, output: Path | None) -> None:
    """Write to standard output, or to a file; a terminal is shown control characters as escapes."""
    if output is not None:
        with replacing(output) as part:
            part.write_text(text, encoding="utf-8")
    else:
        with _printable():
            if sys.stdout.isatty():
                text = show_controls(text)
            sys.stdout.write(text)
            sys.stdout.flush()


@contextmanager
def _printable() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does: the command line ends quietly.
        raise
    except OSError as error:
        raise CobalanceError(f"Standard output: {error.strerror}.") from error


def as_text(frame: "pd.DataFrame", format_: Format) -> str:
    """A frame as CSV, JSON, or a plain table."""
    if format_ is Format.CSV:
        return texts.to_csv(frame).decode()
    if format_ is Format.JSON:
        return texts.to_json(frame).decode()

    # A table in a file may be as wide as it needs: it loses no column.
    width = max(_WIDE, sum(_least_widths(frame).values()))
    plain = Terminal(width=width, no_color=True)
    with plain.capture() as captured:
        plain.print(fitting_table(frame, plain))
    return captured.get()


def _fitting_columns(
    frame: "pd.DataFrame", width: int, unbroken: Collection[str], spare: Sequence[str]
) -> list[Any] | None:
    """The columns that fit a width; None where too few do, so that a field gets a line."""
    least = _least_widths(frame, unbroken)
    # Beside the spare columns at most half of the others is left out, the last ones first.
    others = [name for name in reversed([*frame]) if name not in spare]
    for name in [*spare, *others[: len(others) // 2]]:
        if sum(least.values()) > width:
            least.pop(name, None)

    if not frame.empty and sum(least.values()) > width:
        return None
    return [*least]


def _least_widths(frame: "pd.DataFrame", unbroken: Collection[str] = ()) -> dict[Any, int]:
    """How many characters each column needs, numbers whole and texts wrapped."""
    cells = _cells(frame)
    longest = _longest([""] * len(cells), cells)
    least: dict[Any, int] = {}
    for name, text_width in zip(frame, longest, strict=True):
        is_whole = pd.api.types.is_numeric_dtype(frame[name]) or name in unbroken
        if not is_whole:
            text_width = min(text_width, _NARROW)
        least[name] = max(min(len(str(name)), _NARROW), text_width) + _BETWEEN
    return least


def _records(frame: "pd.DataFrame") -> Table:
    """Each row as a line for each field, rows apart."""
    table = Table.grid(padding=(0, 2))
    for row in zip(*_cells(frame), strict=True):
        for name, text in zip(frame, row, strict=True):
            table.add_row(Text(_header(name)), Text(text, overflow="fold"))
        table.add_row()
    return table


def _header(name: object) -> str:
    return safe_text(str(name)).replace("_", " ")


def fitting_table(
    frame: "pd.DataFrame", console: Console, *, whole: bool = False, unbroken: Collection[str] = ()
) -> Table:
    """A frame as a table that fits the console: numbers stay whole, texts wrap, long names are cut.

    `whole` and `unbroken` are those of `TableOutput.write`.
    """
    headers = [_header(name) for name in frame.columns]
    cells = _cells(frame)
    longest = _longest(headers, cells)
    is_number = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame.columns]
    stays = [number or name in unbroken for name, number in zip(frame, is_number, strict=True)]

    wraps = sum(longest) + _BETWEEN * len(longest) - 1 > console.width
    least = _NARROW
    if wraps:
        # Only on a terminal are texts cut: a pipe or a file gets all of them.
        most = most_lines = None
        if console.is_terminal and not whole:
            most, most_lines = console.width // 3, 3
        headers = [_wrap_header(header, most_lines) for header in headers]
        cells = _cells(frame, most)
        longest = _longest(headers, cells)
        least = _text_width(longest, stays, console.width)

    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for header, number, stay, width in zip(headers, is_number, stays, longest, strict=True):
        table.add_column(
            Text(header),
            justify="right" if number else "left",
            no_wrap=stay or not wraps,
            min_width=width if stay else min(width, least),
            overflow="fold",
        )
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def _wrap_header(header: str, most_lines: int | None) -> str:
    lines = textwrap.wrap(header, _NARROW, max_lines=most_lines, placeholder="…")
    return "\n".join(lines)


def _text_width(longest: Sequence[int], stays: Sequence[bool], width: int) -> int:
    """The least width of a column whose texts wrap, beside the columns that stay whole."""
    if all(stays):
        return _NARROW
    remaining = width - sum(compress(longest, stays)) - _BETWEEN * len(longest)
    return min(_NARROW, max(1, remaining // stays.count(False)))


def _cells(frame: "pd.DataFrame", most: int | None = None) -> list[list[str]]:
    """The texts of each column, names cut at `most` characters."""
    cells = []
    for name in frame.columns:
        values: Iterable[object] = frame[name]
        if name == COUNT:
            values = map(_count, values)
        cells.append([texts.cell_text(value, most) for value in values])
    return cells


def _longest(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """The widest line of each column, on a terminal."""
    return [
        max(map(cell_len, [*column, *header.split("\n")]))
        for header, column in zip(headers, cells, strict=True)
    ]


def _count(value: object) -> object:
    """A whole count as an int, so that it has no decimals; sums may miss it by rounding."""
    # The second test is false for NaN, too.
    if not isinstance(value, float) or not abs(value) < texts.LARGE:
        return value
    nearest = round(value)
    # A tiny part of an image is not written as 0, which says that there is nothing.
    if value == nearest or (nearest != 0 and abs(value - nearest) < _ROUNDING):
        return nearest
    return value
