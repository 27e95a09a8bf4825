"""Plot imbalances between -1 and +1, as inline SVG."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

import pandas as pd

from cobalance.statistics import COUNT, skew
from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph import CLASS_COLORS, text

_WIDTH_PX, _LEFT_PX, _RIGHT_PX = 800, 290, 780
_TOP_PX, _ROW_PX = 54, 24
_MIDDLE_PX, _HALF_PX = (_LEFT_PX + _RIGHT_PX) / 2, (_RIGHT_PX - _LEFT_PX) / 2
# Characters of a combination; wide ones count twice.
_LONGEST = 34
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def skews(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> pd.DataFrame:
    """The skew of each class against all others, from -1 (only the others) to +1 (only it).

    Parameters
    ----------
    frame : pandas.DataFrame
        With ``count_<class>`` for each class.

    Examples
    --------
    >>> frame = pd.DataFrame({"count_cat": [30], "count_dog": [10]})
    >>> skews(frame, {"cat": 100, "dog": 100}).round(2).loc[0].tolist()
    [0.5, -0.5]
    """
    counts = frame[[COUNT + name for name in class_sizes]].to_numpy(dtype=float)
    columns = {}
    for code, name in enumerate(class_sizes):
        others = [*range(code), *range(code + 1, len(class_sizes))]
        columns[name] = skew(counts, [*class_sizes.values()], others, [code])
    return pd.DataFrame(columns)


def imbalance_plot(frame: pd.DataFrame, class_sizes: Mapping[str, int], label: str) -> str:
    """A row for each imbalance, on an axis that always goes from -1 to +1.

    With two classes a bar from the centre to the second class's skew; with more, a disc for the
    class with the highest rate and a ring for the one with the lowest, each against all others.
    """
    names = [*class_sizes]
    two = len(names) == 2
    ends = (f"only {names[0]}", f"only {names[1]}") if two else ("none of the class", "only it")
    height = _TOP_PX + _ROW_PX * len(frame) + 12
    lines = [f'<svg viewBox="0 0 {_WIDTH_PX} {height}" role="img" aria-label="{text(label)}">']
    lines += _axis(height, ends)

    leaning = skews(frame, class_sizes).to_dict("list")
    for position, row in enumerate(frame.to_dict("records")):
        y = _TOP_PX + _ROW_PX * position + _ROW_PX / 2
        lines.append(_name(row["concepts"], y))
        if two:
            lines.append(_bar(leaning[names[1]][position], names, y))
        else:
            lines += _dots(row, {name: leaning[name][position] for name in names}, names, y)
    return "\n".join([*lines, "</svg>"])


def _axis(height: int, ends: tuple[str, str]) -> Iterator[str]:
    for tick in TICKS:
        x = _MIDDLE_PX + tick * _HALF_PX
        kind = "axis" if tick == 0 else "hair"
        yield f'<line class="{kind}" x1="{x:.0f}" y1="46" x2="{x:.0f}" y2="{height - 8}"/>'
        number = f"{tick:+g}".replace("-", "\N{MINUS SIGN}") if tick else "0"
        yield f'<text class="label" x="{x:.0f}" y="40" text-anchor="middle">{number}</text>'

    for x, anchor, end in ((_LEFT_PX, "start", ends[0]), (_RIGHT_PX, "end", ends[1])):
        name = text(cell_text(end, 30))
        yield f'<text class="label" x="{x}" y="18" text-anchor="{anchor}">{name}</text>'


def _name(concepts: Sequence[str], y: float) -> str:
    whole = " + ".join(concepts)
    short = text(cell_text(_fitting(whole)))
    place = f'x="{_LEFT_PX - 14}" y="{y + 4:.0f}"'
    return (
        f'<text class="label" {place} text-anchor="end">{short}<title>{text(whole)}</title></text>'
    )


def _fitting(name: str) -> str:
    """A name cut to the room beside the plot.

    Examples
    --------
    >>> _fitting("a cow"), len(_fitting("a" * 99)), len(_fitting("牛" * 99))
    ('a cow', 34, 17)
    """
    width = fits = 0
    for letter in name:
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width <= _LONGEST:
            fits += 1
    return name if fits == len(name) else name[: fits - 1] + "…"


def _bar(value: float, names: Sequence[str], y: float) -> str:
    x, width = _MIDDLE_PX + min(value, 0.0) * _HALF_PX, abs(value) * _HALF_PX
    side = 1 if value > 0 else 0
    words = f"{value:+.2f}, more often in {names[side]}" if value else "as often in both"
    return (
        f'<rect class="f{side}" x="{x:.1f}" y="{y - 7:.0f}" width="{width:.1f}" '
        f'height="14"><title>{text(words)}</title></rect>'
    )


def _dots(
    row: Mapping[Hashable, Any], leaning: dict[str, float], names: Sequence[str], y: float
) -> Iterator[str]:
    """The class with the highest rate as a disc, and the one with the lowest as a ring."""
    for column, shape in (("lowest_rate", "ring s"), ("highest_rate", "f")):
        name = str(row[column])
        if name in leaning:
            x = _MIDDLE_PX + leaning[name] * _HALF_PX
            color = names.index(name) % len(CLASS_COLORS)
            yield (
                f'<circle class="{shape}{color}" cx="{x:.1f}" cy="{y:.0f}" r="7">'
                f"<title>{text(f'{name}: {leaning[name]:+.2f}')}</title></circle>"
            )
