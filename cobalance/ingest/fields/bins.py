"""Numbers in a few bins: edges of equal counts or equal widths, and the bins' names."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cobalance.base import FloatArray

_MOVED = 0.02  # share of the numbers that rounding the edges may move to another bin
_UNIT = re.compile(
    r"(.*?)\s*(?:\(([^()]+)\)|\[([^\[\]]+)\]"
    r"|_(mm|cm|m|km|px|ms|s|h|kg|g|years|months|days|hours|minutes|seconds|deg|kb|mb))$"
)


def equal_count_edges(values: FloatArray, n_bins: int = 4) -> list[float]:
    """Inner edges of bins with about as many numbers each; fewer where numbers repeat.

    Edges are rounded as long as at most 2% of the numbers change their bin.

    Examples
    --------
    >>> equal_count_edges(np.arange(1000.0))
    [250.0, 500.0, 750.0]
    >>> equal_count_edges(np.array([0.0, 0.0, 0.0, 7.0]))
    [7.0]
    """
    numbers = values[np.isfinite(values)]
    if not len(numbers):
        return []
    shares = np.arange(1, n_bins) / n_bins
    edges = np.unique(np.quantile(numbers, shares, method="higher"))

    # The least number is no edge: no number is below it.
    return _round_edges(edges[edges > numbers.min()], numbers)


def equal_width_edges(values: FloatArray, n_bins: int) -> list[float]:
    """Inner edges of bins of the same width, from the least number to the greatest.

    Examples
    --------
    >>> equal_width_edges(np.array([0.0, 1.0, 10.0]), 5)
    [2.0, 4.0, 6.0, 8.0]
    """
    numbers = values[np.isfinite(values)]
    if not len(numbers) or numbers.min() == numbers.max():
        return []
    return _round_edges(np.linspace(numbers.min(), numbers.max(), n_bins + 1)[1:-1], numbers)


def _round_edges(edges: FloatArray, values: FloatArray) -> list[float]:
    """Edges with the fewest digits that keep the bins and nearly all of their numbers."""
    ordered = np.sort(values)
    positions = np.searchsorted(ordered, edges)

    for digits in range(1, 17):
        rounded = np.array([float(f"{edge:.{digits}g}") for edge in edges])
        n_moved = np.abs(np.searchsorted(ordered, rounded) - positions)
        if (np.diff(rounded) > 0).all() and (n_moved <= _MOVED * len(values)).all():
            return list(map(float, rounded))
    return list(map(float, edges))


def name_bins(edges: Sequence[float], unit: str = "") -> list[str]:
    """Names of the bins between inner edges, as `numpy.digitize` numbers them.

    Examples
    --------
    >>> name_bins([18, 30], "years")
    ['below 18 years', '18 to 30 years', '30 years and above']
    """
    texts = list(map("{:.15g}".format, edges))
    if not texts:
        return ["any number"]
    suffix = f" {unit}" if unit else ""
    middle = [f"{low} to {high}{suffix}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}{suffix}", *middle, f"{texts[-1]}{suffix} and above"]


def unit_of(column: str) -> tuple[str, str]:
    """A column's name without its unit, and the unit; empty where it names none.

    Examples
    --------
    >>> unit_of("age (years)"), unit_of("height_cm"), unit_of("brightness")
    (('age', 'years'), ('height', 'cm'), ('brightness', ''))
    """
    match = _UNIT.fullmatch(column)
    if match is None or not match[1]:
        return column, ""
    return match[1], match[2] or match[3] or match[4]
