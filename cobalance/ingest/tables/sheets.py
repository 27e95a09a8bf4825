r"""Small tables that people fill in with a spreadsheet: written safely, and read line by line."""

import csv
import io
import re
from collections.abc import Collection, Iterator

import pandas as pd

from cobalance.base import InputError

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def guard_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts that a spreadsheet would run as a formula.

    Names come from datasets and from models, whoever wrote them. `read_sheet` takes it off again.
    """
    return frame.map(
        lambda cell: f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
    )


def read_sheet(
    text: str, file: str, required: Collection[str] = (), remedy: str = "Write one."
) -> list[tuple[str, dict[str, str]]]:
    r"""Read a table with a header line, as spreadsheets save it.

    A byte order mark, any line ends, and white space around names of columns do not matter; empty
    lines are left out, and cells that a row lacks are empty.

    Parameters
    ----------
    file : str
        For errors.
    required : collection of str
        Columns that there must be.
    remedy : str
        What to do without one of them.

    Returns
    -------
    list of (str, dict)
        The place of a row, such as "line 2", and its cells by column.

    Raises
    ------
    InputError
        It is no CSV, a column is missing or there twice, or a row has cells beyond the header.
    """
    records = csv_records(text.removeprefix("\ufeff"), file, "Save it as CSV in UTF-8.")
    place, names = next(records, ("line 1", []))
    header = list(map(str.strip, names))

    for name in required:
        if name not in header:
            listed = f"; there are {', '.join(map(repr, header))}" if header else ""
            raise InputError(file, place, f"there is no column {name!r}{listed}", remedy)
    for name in header:
        if name and header.count(name) > 1:
            raise InputError(file, place, f"the column {name!r} is there twice", "Keep one.")

    rows = []
    for place, cells in records:
        if any(map(str.strip, cells[len(header) :])):
            raise InputError(
                file,
                place,
                f"has {len(cells)} cells where the header has {len(header)}",
                "Quote cells that contain a comma.",
            )
        if any(map(str.strip, cells)):
            # Spreadsheets leave out cells at the end of a row.
            filled = cells + [""] * (len(header) - len(cells))
            rows.append((place, dict(zip(header, map(_plain, filled), strict=False))))
    return rows


def _plain(cell: str) -> str:
    """Remove the prefix that `guard_formulas` put before a text."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_records(
    text: str, file: str, remedy: str, *, strict: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Yield the cells of each record that is not empty, with its last line.

    Raises
    ------
    InputError
        It is no CSV; `remedy` says what to do.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=strict)

    try:
        for cells in reader:
            if cells:
                yield f"line {reader.line_num}", cells
    except csv.Error as error:
        raise InputError(
            file, f"line {reader.line_num}", f"is not CSV ({error})", remedy
        ) from error
