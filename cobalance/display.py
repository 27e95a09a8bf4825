"""Results as text in a terminal, and as HTML in a notebook, on light and dark pages."""

from abc import abstractmethod
from collections.abc import Collection
from html import escape

import pandas as pd

from cobalance.graph.safe_text import safe_text
from cobalance.workflows.cells import cell_text, is_missing

ALL = 2**31  # rows: no limit
ROWS = 10  # of a table; `.frame` has all
BARS = ("#4c8fd6", "#e07b39", "#3aa675", "#b565c9", "#c9a227", "#5f6b7a")
"""Colours of the classes, by position; laid on at 35%, they can be read on white and on black."""


class Result:
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

    def to_frame(self) -> pd.DataFrame:
        """A copy of `frame`."""
        return self.frame.copy()

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        shown = self.shown()
        title = safe_text(self.title())
        if shown.empty:
            return title
        shown = shown.rename(columns=lambda name: safe_text(str(name)))
        table = shown.head(ROWS).map(cell_text).to_string(index=False)
        return f"{title}\n{table}{_more(len(shown))}"

    def _repr_html_(self) -> str:
        return card(self.title(), table_html(self.shown(), self.bars))


def card(title: str, *parts: str) -> str:
    """HTML of a title, which is escaped, with parts below it, which are HTML."""
    head = f'<div style="font-weight:600;margin-bottom:.4em">{escape(safe_text(title))}</div>'
    return f'<div style="color:inherit;line-height:1.4">{head}{"".join(parts)}</div>'


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
    longest = max((float(first[name].max()) for name in bars), default=0.0)
    colours = {name: BARS[at % len(BARS)] for at, name in enumerate(bars)}
    right = {name: pd.api.types.is_numeric_dtype(first[name].dtype) for name in first.columns}
    head = "".join(
        f'<th style="{_align(right[name])}">{escape(safe_text(str(name)))}</th>'
        for name in first.columns
    )
    body = []
    for row in first.itertuples(index=False, name=None):
        cells = []
        for name, value in zip(first.columns, row, strict=True):
            style = _align(right[name])
            if name in colours and longest > 0 and not is_missing(value):
                style += _bar(colours[name], float(value) / longest)
            cells.append(f'<td style="{style}">{escape(cell_text(value))}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        '<table style="border-collapse:collapse;color:inherit">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f'<div style="opacity:.7;font-size:90%">{escape(_more(len(frame), rows).strip())}</div>'
    )


def _align(right: bool) -> str:
    side = "right" if right else "left"
    return f"text-align:{side};padding:.15em .6em;border-bottom:1px solid rgba(128,128,128,.25);"


def _bar(colour: str, share: float) -> str:
    filled = f"{100 * share:.1f}%"
    return (
        f"background:linear-gradient(to right,{colour}59 {filled},transparent {filled});"
        "min-width:5em;"
    )


def _more(total: int, rows: int = ROWS) -> str:
    return f"\n… and {total - rows:,} more" if total > rows else ""
