"""Figures that benchmarks report: kept on this machine, and shown with aims and last figures."""

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

FILE = Path(__file__).parent / "data" / "figures.jsonl"
HEADER = ("figure", "value", "aim", "met", "last", "load")


class Figure(msgspec.Struct, frozen=True):
    """A figure of one run.

    Parameters
    ----------
    name : str
        What it is of, the same in every run.
    value : float
        In `unit`.
    unit : str
        Such as s or MB; empty for a ratio.
    at_most, at_least : float or None
        The aim, if there is one.
    command : str
        The command line that has measured it.
    load : float
        Of the machine, over the minute before.
    date : str
        When it was reported: ISO 8601, in UTC.
    """

    name: str
    value: float
    unit: str
    at_most: float | None
    at_least: float | None
    command: str
    load: float
    date: str

    @property
    def is_met(self) -> bool:
        """Whether the value is within its aim."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def value_text(self) -> str:
        """The value with its unit."""
        # Four digits, so that a figure just beyond its aim does not look as if it met it.
        decimals = max(0, 4 - len(f"{abs(self.value):.0f}"))
        return f"{self.value:,.{decimals}f} {self.unit}".rstrip()

    def aim_text(self) -> str:
        """The aim in words; empty without one."""
        bounds = (("at most", self.at_most), ("at least", self.at_least))
        return ", ".join(
            f"{words} {bound:,g} {self.unit}".rstrip()
            for words, bound in bounds
            if bound is not None
        )

    def met_text(self) -> str:
        """Whether the aim is met; empty without one."""
        if not self.aim_text():
            return ""
        return "yes" if self.is_met else "NO"


def report(
    name: str,
    value: float,
    unit: str = "",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> None:
    """Append a figure to the file; `show_figures` prints it.

    Parameters
    ----------
    name : str
        What it is of, with the sizes that it depends on: figures of one name are compared.
    unit : str
        Such as s or MB; empty for a ratio.
    """
    figure = Figure(
        name=name,
        value=float(value),
        unit=unit,
        at_most=at_most,
        at_least=at_least,
        command=shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]]),
        load=os.getloadavg()[0],
        date=now(),
    )
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("ab") as file:
        file.write(msgspec.json.encode(figure) + b"\n")


def now() -> str:
    """The time as figures have it; a later one sorts after it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def read_figures() -> list[Figure]:
    """All figures of the file, oldest first."""
    if not FILE.exists():
        return []
    return msgspec.json.Decoder(Figure).decode_lines(FILE.read_bytes())


def show_figures(figures: Iterable[Figure], since: str) -> str:
    """Lay out the newest figure of each name since a time, beside the newest before.

    Parameters
    ----------
    figures : iterable of Figure
        Oldest first.
    since : str
        When the run began, as `now` gives it.
    """
    before: dict[str, Figure] = {}
    of_run: dict[str, Figure] = {}
    for figure in figures:
        figures_by_name = of_run if figure.date >= since else before
        figures_by_name[figure.name] = figure

    rows = []
    for name, figure in of_run.items():
        last = before[name].value_text() if name in before else ""
        value, load = figure.value_text(), f"{figure.load:.1f}"
        rows.append((name, value, figure.aim_text(), figure.met_text(), last, load))
    return _aligned([HEADER, *rows])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with columns of one width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
