"""Results as text in a terminal, and as HTML in a notebook, on light and dark pages."""

import shutil
import sys
from abc import abstractmethod
from collections.abc import Collection, Iterator
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobalance.base import IntArray, OptionError, UnknownNameError, check_known, text_if
from cobalance.base.safe_text import safe_text
from cobalance.notebook.plots import draw_bars
from cobalance.notebook.remedies import SpeaksPython
from cobalance.workflows import cell_text, is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS = 10
"""Rows of a table; `.frame` has all."""
WIDTH = 120
"""Characters of a line, where there is no terminal."""
BARS = ("#4c8fd6", "#e07b39", "#3aa675", "#b565c9", "#c9a227", "#5f6b7a")
"""Colours of the classes, by position; laid on at 35%, they can be read on white and on black."""


class Result(SpeaksPython):
    """A result that knows how to look: a title, and the first rows of its frame."""

    @property
    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """All of it, as a frame."""

    @abstractmethod
    def title(self) -> str:
        """One line: kind of result and its size."""

    def shown(self) -> pd.DataFrame:
        """The columns worth a look, row by row as in `frame`."""
        return self.frame

    @property
    def bars(self) -> Collection[str]:
        """Columns of `shown` that get bars, which share one scale."""
        return ()

    def to_pandas(self) -> pd.DataFrame:
        """A copy of `frame`."""
        return self.frame.copy()

    def head(self, n: int = 5) -> pd.DataFrame:
        """The first rows of `to_pandas`."""
        return self.to_pandas().head(n)

    def plot(self, n: int = 20, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the first rows with matplotlib, imbalances as reports do; return its axes.

        Raises
        ------
        MissingExtraError
            matplotlib is not installed.
        OptionError
            There is no row to draw, or no plot of it.
        """
        rows = len(self.frame)
        if min(n, rows) < 1:
            raise OptionError(f"There is nothing to draw: n is {n}, of {rows:,} rows.")
        return self._draw(n, ax)

    def _draw(self, n: int, ax: "Axes | None") -> "Axes":
        if not self.bars:
            raise OptionError("This has no plot of its own. Draw columns of .to_pandas().")
        return draw_bars(self.shown().head(n), tuple(self.bars), self.title(), ax)

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, at: Any) -> Any:
        """A column of `frame` by its name, a row by its number, or rows by a slice."""
        frame = self.frame
        if isinstance(at, str):
            check_known("column", [at], frame.columns)
            return frame[at]
        rows = frame.iloc[rows_at(at, len(frame))]
        if isinstance(rows, pd.DataFrame):
            return rows
        return rows.to_dict()

    def __iter__(self) -> Iterator[Any]:
        yield from self.frame.to_dict("records")

    def __repr__(self) -> str:
        rows = self.shown()
        title = safe_text(self.title())
        if rows.empty:
            return title

        cells = rows.head(ROWS).map(cell_text)
        left_out = _too_wide(cells, self.bars)
        table = cells.drop(columns=left_out).rename(columns=lambda name: safe_text(str(name)))
        text = f"{title}\n{table.to_string(index=False)}{_more(len(rows))}"
        if left_out:
            text += f"\n… and the columns {', '.join(map(cell_text, left_out))}"
        return text

    def _repr_html_(self) -> str:
        return card(self.title(), table_html(self.shown(), self.bars))


def rows_at(at: Any, n: int, kind: str = "row") -> Any:
    """The position, or positions, of `n` that a number, slice, list or mask means."""
    try:
        return np.arange(n)[at if isinstance(at, slice) else np.asarray(at)]
    except (IndexError, TypeError, ValueError) as error:
        raise OptionError(
            f"There is no {kind} {str(at)[:60]}. There are {n:,}, by number from 0 on."
        ) from error


def matching_rows(frame: pd.DataFrame, expression: str) -> IntArray:
    """Positions of the rows for which an expression holds; ``@x`` is of who calls the method."""
    try:
        holds = np.asarray(frame.eval(expression, engine="python", level=3))
        if holds.dtype != bool or holds.shape != (len(frame),):
            raise ValueError("it is no comparison")  # noqa: TRY301
        return np.flatnonzero(holds)
    except pd.errors.UndefinedVariableError as error:
        raise UnknownNameError("column", str(error).split("'")[1], frame.columns) from None
    except (SyntaxError, TypeError, ValueError, KeyError, AttributeError) as error:
        reason = str(error).partition("\n")[0][:80]
        raise OptionError(
            f"The expression {expression!r} does not say which rows ({reason}). Compare a column: "
            f"{', '.join(map(str, frame.columns))}."
        ) from None


def _too_wide(cells: pd.DataFrame, bars: Collection[str]) -> list[Any]:
    """Columns that do not fit on a line: of classes first, then from the right."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    widths = {name: 1 + max(len(str(name)), *map(len, cells[name])) for name in cells.columns}
    of_classes = [name for name in widths if str(name).removeprefix("% of ") in bars]
    # The first column names the rows, and stays.
    others = [name for name in widths if name not in of_classes][1:]

    left_out: list[Any] = []
    for name in (*reversed(of_classes), *reversed(others)):
        if sum(widths.values()) <= width:
            break
        del widths[name]
        left_out.insert(0, name)
    return left_out


def card(title: str, *parts: str) -> str:
    """HTML of a title, which is escaped, with parts below it, which are HTML."""
    head = f'<div style="font-weight:600;margin-bottom:.4em">{escape(safe_text(title))}</div>'
    return f'<div style="color:inherit;line-height:1.4">{head}{"".join(parts)}</div>'


def bar_html(share: float) -> str:
    """HTML of a bar that is filled to a share, from 0 to 1."""
    done = f"{100 * share:.1f}%"
    return (
        '<div style="border:1px solid rgba(128,128,128,.4);border-radius:3px;height:.8em;'
        f"max-width:30em;background:linear-gradient(to right,#3aa675 {done},transparent {done})"
        '"></div>'
    )


def table_html(frame: pd.DataFrame, bars: Collection[str] = (), rows: int = ROWS) -> str:
    """HTML of a frame's first rows; names are escaped.

    Parameters
    ----------
    bars : collection of str
        Columns of numbers of 0 or more, each drawn as a bar behind its number.
    """
    if frame.empty:
        return ""
    first = frame.head(rows)
    # Bars of all columns share one scale.
    longest = max((float(first[name].max()) for name in bars), default=0.0)
    colours = dict(zip(bars, cycle(BARS), strict=False))

    head, styles = "", {}
    for name in first.columns:
        styles[name] = _align(pd.api.types.is_numeric_dtype(first[name].dtype))
        head += f'<th style="{styles[name]}">{escape(safe_text(str(name)))}</th>'

    body = ""
    for row in first.itertuples(index=False, name=None):
        cells = ""
        for name, value in zip(first.columns, row, strict=True):
            style = styles[name]
            if name in colours and longest > 0 and not is_missing(value):
                style += _bar(colours[name], float(value) / longest)
            cells += f'<td style="{style}">{escape(cell_text(value))}</td>'
        body += f"<tr>{cells}</tr>"

    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;color:inherit">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<div style="opacity:.7;font-size:90%">{escape(_more(len(frame), rows).strip())}</div>'
    )


def _align(right: bool) -> str:
    side = "right" if right else "left"
    return (
        f"text-align:{side};white-space:nowrap;padding:.15em .6em;"
        "border-bottom:1px solid rgba(128,128,128,.25);"
    )


def _bar(colour: str, share: float) -> str:
    filled = f"{100 * share:.1f}%"
    return (
        f"background:linear-gradient(to right,{colour}59 {filled},transparent {filled});"
        "min-width:5em;"
    )


def _more(total: int, rows: int = ROWS) -> str:
    return text_if(total > rows, f"\n… and {total - rows:,} more")
