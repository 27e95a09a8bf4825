"""Choices of the uses of columns: the options ``field`` and ``names``, parsed."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, starmap
from math import isfinite

from cobalance.base import OptionError, Setting, clean_name
from cobalance.ingest.options import ReadOptions

KINDS = {
    "values": "a concept per value",
    "flag": "one concept",
    "two": "a concept and its absence",
    "bins": "bins of equal counts",
    "counts": "bins of equal counts",
    "widths": "bins of equal widths",
    "year": "its year",
    "month": "its month",
    "weekday": "its day of the week",
    "hour": "its hour",
    "list": "the concepts in its lists",
    "ignore": "left out",
}
BINNED = ("bins", "counts", "widths")
_N_BINS = 4
_MOST_BINS = 100


@dataclass(frozen=True)
class Choice:
    """Use of a column: a name in `KINDS`, how numbers are binned, and if it is known to fit."""

    kind: str
    n_bins: int = _N_BINS
    edges: tuple[float, ...] = ()
    unit: str = ""
    fits: bool = False


def field_choices(options: ReadOptions) -> dict[str, Choice]:
    """The chosen columns, by their cleaned names.

    Raises
    ------
    OptionError
        A kind is unknown, or its number or edges cannot be used.
    """
    return {clean_name(name): parse_choice(name, text) for name, text in options.field.items()}


def field_names(options: ReadOptions) -> dict[str, Mapping[str, str]]:
    """Names of columns' codes, by the columns' cleaned names."""
    return {
        clean_name(column): dict(zip(map(str, names), names.values(), strict=True))
        for column, names in options.names.items()
    }


def parse_choice(column: str, text: str) -> Choice:
    """Parse a kind: ``values``, ``bins:18,30:years``, ``widths:5``.

    Raises
    ------
    OptionError
        It cannot be used.

    Examples
    --------
    >>> parse_choice("age", "bins:18,30:years").edges
    (18.0, 30.0)
    """
    kind, _, rest = text.strip().partition(":")
    how, _, unit = rest.partition(":")
    if kind not in KINDS:
        raise _wrong(column, text, f"is none of {', '.join(KINDS)}", "values")
    if rest and kind not in BINNED:
        raise _wrong(column, text, "takes nothing after the colon", kind)

    # Edges follow "bins" alone; after the others there is a number of bins.
    if kind != "bins" or not how:
        if how and not (how.isdecimal() and 2 <= int(how) <= _MOST_BINS):
            raise _wrong(column, text, f"has no number of bins from 2 to {_MOST_BINS}", "widths:5")
        return Choice(kind, int(how or _N_BINS), unit=unit)

    try:
        edges = tuple(map(float, how.split(",")))
    except ValueError:
        edges = ()

    are_rising = all(starmap(operator.lt, pairwise(edges)))
    if not (edges and are_rising and all(map(isfinite, edges)) and len(edges) < _MOST_BINS):
        raise _wrong(column, text, "has no edges that rise", "bins:18,30,65")
    return Choice(kind, edges=edges, unit=unit)


def _wrong(column: str, text: str, reason: str, example: str) -> OptionError:
    return OptionError(
        f"What the column {column!r} becomes, {text!r}, {reason}. Set ",
        Setting("field"),
        f" to {column}={example}, for example.",
    )
