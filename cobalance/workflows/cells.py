"""Values and frames as text, CSV and JSON."""

import json
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from cobalance.base import text_if
from cobalance.base.safe_text import safe_text

ARROW = "\N{RIGHTWARDS ARROW}"
LARGE = 1e15
"""Floats from here on have not all of their digits."""


def cell_text(value: Any, most: int | None = None) -> str:
    """A value as text: names joined by +, intervals, numbers with separators, - where missing.

    Examples
    --------
    >>> cell_text(("cow", "road")), cell_text(1414), cell_text(None)
    ('cow + road', '1,414', '-')
    >>> cell_text([0.001, 0.05]), cell_text([None, None])
    ('[0.001, 0.050]', '')
    """
    if is_interval(value):
        if all(map(is_missing, value)):
            return ""
        return f"[{', '.join(map(cell_text, value))}]"
    if isinstance(value, (list, tuple)):
        return " + ".join(_part_text(part, most) for part in value)
    if is_missing(value):
        return "-"
    if isinstance(value, dict):
        return safe_text(json_text(value))

    # Columns beside missing values have NumPy's numbers.
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _float_text(value)
    text = safe_text(str(value))
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def _part_text(part: Any, most: int | None) -> str:
    """A part of a list as text; of two in one the second stands beside the first."""
    if isinstance(part, (list, tuple)) and len(part) == 2:
        return f"{cell_text(part[0], most)} {cell_text(part[1], most)}"
    return cell_text(part, most)


def _float_text(value: float) -> str:
    if abs(value) >= LARGE:
        return f"{value:.3e}"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:,.3f}"


def is_interval(value: Any) -> bool:
    """Whether a cell is two limits, each a float or missing."""
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    return is_pair and all(isinstance(limit, float) or is_missing(limit) for limit in value)


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NA or NaN."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def number_text(number: Any, form: str) -> str:
    """A number in a form; a dash for a missing one."""
    return "-" if pd.isna(number) else format(number, form)


def signed_text(number: float, form: str) -> str:
    """A number with its sign, a minus and not a hyphen; of shares in percentage points.

    Examples
    --------
    >>> signed_text(-2164, ",.0f"), signed_text(0.302, ".1%")
    ('−2,164', '+30.2 points')
    """
    text = format(number, f"+{form}").replace("-", "\N{MINUS SIGN}")
    return text.replace("%", " points")


def count_texts(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Names after their counts, such as ``"7,308 cats"``."""
    return [f"{n:,} {name}" for name, n in counts]


def more_text(n: int) -> str:
    """How many more there are than are named, after their names; empty for none."""
    return text_if(n > 0, f" and {n:,} more")


def change_text(before: Any, after: Any, form: str = ",.0f") -> str:
    """Two numbers, before and after, such as counts; a dash for one that is missing.

    Examples
    --------
    >>> change_text(1700, 0), change_text(17, None), change_text(0.354, 0.2, ".1%")
    ('1,700 → 0', '17 → -', '35.4% → 20.0%')
    """
    return f"{number_text(before, form)} {ARROW} {number_text(after, form)}"


def change_texts(before: Iterable[Any], after: Iterable[Any], form: str = ",.0f") -> list[str]:
    """`change_text` of each row."""
    return [change_text(*numbers, form) for numbers in zip(before, after, strict=True)]


def duration_text(seconds: float) -> str:
    """A length of time, to two figures or so.

    Examples
    --------
    >>> [duration_text(s) for s in (4.2, 70, 5400, 200_000, 2_000_000)]
    ['4 s', '70 s', '90 min', '56 h', '23 days']
    """
    # A unit is used up to about a hundred: of the next one there would be a single figure.
    for unit, length_s, most in (("s", 1, 100), ("min", 60, 100), ("h", 3600, 72)):
        if seconds < most * length_s:
            return f"{seconds / length_s:,.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def q_text(q_value: float) -> str:
    """A q-value.

    Examples
    --------
    >>> q_text(0.00002), q_text(0.0312), q_text(float("nan"))
    ('<0.001', '0.031', '-')
    """
    if is_missing(q_value):
        return "-"
    return "<0.001" if q_value < 0.001 else f"{q_value:.3f}"


def rate_texts(rates: Iterable[float]) -> list[str]:
    """Shares of a class's images as percentages; a dash where it has none."""
    return [number_text(rate, ".1%") for rate in rates]


def to_csv(frame: pd.DataFrame) -> bytes:
    r"""A frame as CSV in UTF-8 with a line of column names; lists in cells are JSON text.

    Examples
    --------
    >>> to_csv(pd.DataFrame({"concepts": [("cow", "road")], "images": [3]})).decode()
    'concepts,images\n"[""cow"", ""road""]",3\n'
    """
    texts = frame.copy(deep=False)
    for position, (_, column) in enumerate(frame.items()):
        if column.dtype == object:
            # `Series.map` would make numbers of all kinds one of floats.
            cells = [_as_json_if_list(value) for value in column]
            texts.isetitem(position, pd.Series(cells, dtype=object).array)
    return texts.to_csv(index=False, lineterminator="\n").encode()


def to_json(frame: pd.DataFrame) -> bytes:
    """A frame as a JSON list of objects; missing and infinite values are null.

    Examples
    --------
    >>> to_json(pd.DataFrame({"lift": [1.5, float("inf")]})).decode().split()
    ['[', '{', '"lift":', '1.5', '},', '{', '"lift":', 'null', '}', ']']
    """
    rows = list(map(_json_value, frame.to_dict(orient="records")))
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def json_text(value: Any) -> str:
    """A value as JSON; missing and infinite numbers are null."""
    return json.dumps(_json_value(value), ensure_ascii=False, default=str)


def _as_json_if_list(value: Any) -> Any:
    return json_text(value) if isinstance(value, (list, tuple, dict)) else value


def _json_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return list(map(_json_value, value))
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}

    # JSON has no missing values, nor infinite numbers.
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if hasattr(value, "item"):
        return _json_value(value.item())
    return value


def log_odds_texts(frame: pd.DataFrame, name: str = "log_odds_ratio") -> list[str]:
    """Log odds ratios of imbalances with their intervals; a dash where one is not defined.

    Examples
    --------
    >>> ratios = pd.DataFrame({
    ...     "log_odds_ratio": [5.531, float("nan")],
    ...     "log_odds_ratio_low": [4.14, float("nan")],
    ...     "log_odds_ratio_high": [6.921, float("nan")],
    ... })
    >>> log_odds_texts(ratios)
    ['+5.53 [4.14, 6.92]', '-']
    """
    texts = []
    ratios = frame[[name, f"{name}_low", f"{name}_high"]]
    for value, low, high in ratios.itertuples(index=False):
        texts.append("-" if is_missing(low) else f"{value:+.2f} [{low:.2f}, {high:.2f}]")
    return texts


def class_pairs(frame: pd.DataFrame, first: str, second: str) -> list[str]:
    """Names of two classes in each row; the first alone where the dataset has no others."""
    kind, names = frame[first].dtype, frame[first].astype(object)
    if isinstance(kind, pd.CategoricalDtype) and len(kind.categories) == 2:
        return list(map(safe_text, map(str, names)))
    pairs = zip(names, frame[second], strict=True)
    return [safe_text(f"{name} vs {other}") for name, other in pairs]
