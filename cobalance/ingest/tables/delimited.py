"""CSV and TSV with a header line, quoted as in RFC 4180."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cobalance.base import InputError, Progress, clean_name
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.decimal_commas import with_decimal_points
from cobalance.ingest.tables.headerless import is_row, names_by_position
from cobalance.ingest.tables.loading import Table, column_names, text_rows
from cobalance.ingest.trees import lines_of

if TYPE_CHECKING:
    from _csv import Reader

LONGEST_FIELD = 1 << 24  # characters; a quote that is never closed would swallow the file


@dataclass(frozen=True)
class Delimited:
    """Text with a separator: of those given, the one that splits the header into most columns."""

    description: str
    separators: str

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether the header line has one of the separators, or Excel's line names one."""
        header = head.lstrip(b" \r\n").split(b"\n", 1)[0]
        # JSON has commas, too.
        if header.startswith((b"{", b"[")):
            return False
        named = _named_separator(header.decode(errors="replace"))
        marks = [named] if named and "," in self.separators else self.separators
        return b"\0" not in header and any(mark.encode() in header for mark in marks)

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows as text; numbers and missing values are not guessed."""
        csv.field_size_limit(LONGEST_FIELD)
        size = path.stat().st_size
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as file,
        ):
            first_line = next(filter(str.strip, lines_of(file, problems.file)), "")
            named_separator = _named_separator(first_line)
            separator = named_separator or self.separator(first_line)
            file.seek(0)
            lines = csv.reader(
                lines_of(file, problems.file),
                delimiter=separator,
                skipinitialspace=separator == " ",
                strict=True,
            )

            records = _records(lines, problems)
            line, header = next(records, (1, []))
            if named_separator:
                line, header = next(records, (line, []))
            place = f"line {line}"
            if not any(map(clean_name, header)):
                raise problems.fatal(
                    "there is no header", "Name the columns in the first line.", place
                )
            names = self.names(header, problems.file)
            rows = text_rows(column_names(names, problems, place), problems)
            if names is not header:
                # A list without a header begins with a row.
                rows.add(line, header)

            width = len(header)
            for line, row in records:
                if len(row) != width:
                    problems.record(
                        f"line {line}",
                        f"has {len(row)} fields where the header has {width}",
                        "Complete the line, and quote fields that contain the separator",
                    )
                elif rows.add(line, row):
                    progress("read", raw.tell(), size)
        progress("read", size, size)
        table = rows.table()
        return replace(table, columns=with_decimal_points(table.columns, separator))

    def separator(self, line: str) -> str:
        """The separator that splits the first line into most columns."""
        return max(
            self.separators, key=lambda mark: len(next(csv.reader([line], delimiter=mark), []))
        )

    def names(self, row: list[str], file: str) -> Sequence[str]:
        """Names of the columns by the first row, the header.

        Raises
        ------
        InputError
            It is a row of a layout that is not known.
        """
        names = names_by_position(row)
        if names is None and is_row(row):
            raise InputError(
                file,
                "line 1",
                f"there is no header: the first line is a row, {', '.join(row)[:80]!r}",
                "Name the columns in a line before it, such as image,label,xmin,ymin,xmax,ymax.",
            )
        return names or row


def _named_separator(line: str) -> str:
    """The separator that Excel's first line names, ``sep=;``; empty for any other line."""
    match = re.fullmatch(r'"?sep=(.)"?[;,\s]*', line.rstrip("\r\n"), re.IGNORECASE)
    return match[1] if match else ""


def _records(rows: "Reader", problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its first line number; empty lines are skipped."""
    while True:
        # A quoted field may go over several lines.
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problems.record(f"line {line}", *_quoting_fault(error))
        else:
            if row:
                yield line, row


def _quoting_fault(error: csv.Error) -> tuple[str, str]:
    message = str(error)
    if "unexpected end" in message or "field larger" in message:
        return "a quote is opened and never closed", "Close it, or double the quotes in the text"
    if "new-line character" in message:
        return "a line ends with a lone carriage return", "Save it with line ends \\n or \\r\\n"
    return f"the quoting is broken ({message})", "Double the quotes in the text"
