"""Results as a table for people, or as CSV, JSON or Parquet for programs."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graph.errors import OptionError

_SHORT = 20  # characters; a text up to here is not broken into lines
_NARROW = 12  # characters that a longer text keeps


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def write_frame(
    frame: pd.DataFrame,
    format_: Format,
    output: Path | None,
    console: Console,
    *,
    title: str | None = None,
) -> None:
    """Write a frame to standard output, or to a file.

    Lists in cells stay lists in JSON and Parquet, become JSON text in CSV, and are joined with
    " + " in a table.

    Raises
    ------
    OptionError
        Parquet without a file, or a file that cannot be written.
    """
    if format_ is Format.PARQUET:
        if output is None:
            raise OptionError("Parquet is not text. Name a file with --output FILE.")
        with _writable(output):
            frame.to_parquet(output, index=False)
    elif format_ is Format.TABLE and output is None:
        console.print(as_table(frame, title))
    else:
        write_text(as_text(frame, format_, title), output)


def write_text(text: str, output: Path | None) -> None:
    """Write to standard output, or to a file."""
    if output is None:
        sys.stdout.write(text)
    else:
        with _writable(output):
            output.write_text(text, encoding="utf-8")


@contextmanager
def _writable(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OptionError(
            f"{output}: {error.strerror}. Name a file that can be written."
        ) from error


def as_text(frame: pd.DataFrame, format_: Format, title: str | None = None) -> str:
    """A frame as CSV, JSON, or a plain table."""
    if format_ is Format.CSV:
        return frame.map(_as_json_if_list).to_csv(index=False, lineterminator="\n")
    if format_ is Format.JSON:
        rows = [
            {name: _json_value(value) for name, value in row.items()}
            for row in frame.to_dict(orient="records")
        ]
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    plain = Console(width=200, no_color=True)
    with plain.capture() as captured:
        plain.print(as_table(frame, title))
    return captured.get()


def as_table(frame: pd.DataFrame, title: str | None = None) -> Table:
    """A frame as a table for a terminal, numbers to the right."""
    table = Table(
        title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", show_edge=False
    )
    cells = [[_cell(value) for value in frame[name]] for name in frame.columns]
    for position, (name, texts) in enumerate(zip(frame.columns, cells, strict=True)):
        longest = max(map(len, texts), default=0)
        table.add_column(
            escape(str(name)).replace("_", " "),
            justify="right" if pd.api.types.is_numeric_dtype(frame[name]) else "left",
            # Long texts and the first column give way on a narrow terminal, never to nothing.
            no_wrap=position > 0 and longest <= _SHORT,
            min_width=min(longest, _NARROW),
            overflow="fold",
        )
    for row in zip(*cells, strict=True):
        table.add_row(*map(escape, row))
    return table


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " + ".join(
            f"{_cell(part[0])} {_cell(part[1])}"
            if isinstance(part, (list, tuple)) and len(part) == 2
            else _cell(part)
            for part in value
        )
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != 0 and abs(value) < 1e-3:
            return f"{value:.1e}"
        return f"{value:,.3f}"
    return str(value)


def _as_json_if_list(value: Any) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(_json_value(value), ensure_ascii=False)
    return value


def _json_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "item"):
        return _json_value(value.item())
    return value
