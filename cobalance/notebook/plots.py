"""Results drawn with matplotlib."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobalance.base import needs_extra
from cobalance.workflows import CLASS_COLORS, TICKS, cell_text, skews

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_IN, _ENTRY_IN, _WIDTH_IN, _LONGEST, _NAME = 0.28, 0.19, 7.0, 40, 24


def draw_bars(frame: pd.DataFrame, bars: Sequence[str], title: str, ax: "Axes | None") -> "Axes":
    """A group of bars for each row, one for each of some columns; of many, the longest."""
    # Rows are named by the columns before the bars that are no numbers.
    first = list(frame.columns).index(bars[0])
    names = [name for name in frame.columns[:first] if frame[name].dtype.kind not in "iuf"]
    labels = [" · ".join(map(cell_text, row)) for row in frame[names].itertuples(index=False)]

    drawn = _largest(frame[[*bars]].astype(float))
    n = drawn.shape[1]
    ax = _rows_of(labels, title, ax, n)
    height = 0.8 / n

    for position, (name, lengths) in enumerate(drawn.items()):
        y = np.arange(len(frame)) + (position - (n - 1) / 2) * height
        label, color = cell_text(name, _NAME), CLASS_COLORS[position]
        ax.barh(y, lengths, height, label=label, color=color)
    if len(bars) > 1:
        _add_legend(ax, len(bars) - n)
    return ax


def draw_skews(frame: pd.DataFrame, class_sizes: Mapping[str, int], ax: "Axes | None") -> "Axes":
    """The figure of the report: how far each combination leans, from -1 to +1.

    With two classes a bar to the class that shows it more often; with more, a dot for each class
    against all others: of many, those that lean most.
    """
    labels = list(map(cell_text, frame["concepts"]))
    leaning, names = skews(frame, class_sizes), [*class_sizes]
    drawn, rows = _largest(leaning), np.arange(len(frame))
    ax = _rows_of(labels, "Skew of each combination", ax, drawn.shape[1])

    if len(names) == 2:
        lengths = leaning[names[1]].to_numpy()
        colors = np.where(lengths > 0, CLASS_COLORS[1], CLASS_COLORS[0])
        ax.barh(rows, lengths, color=colors.tolist())
        ax.set_xlabel(f"-1: only {names[0]}; +1: only {names[1]}", parse_math=False)
    else:
        for (name, skew), color in zip(drawn.items(), CLASS_COLORS, strict=False):
            ax.plot(skew, rows, "o", label=cell_text(name, _NAME), color=color)
        ax.set_xlabel("-1: none of the class; +1: only it")
        _add_legend(ax, len(names) - drawn.shape[1])

    # The axis is the same for all tables, so that plots can be compared.
    ax.set_xlim(-1, 1)
    ax.set_xticks(TICKS)
    ax.axvline(0, color="0.5", linewidth=0.8)
    return ax


def _largest(values: pd.DataFrame) -> pd.DataFrame:
    """As many columns as there are colours, of more those with the largest values."""
    largest = values.abs().max().fillna(0).nlargest(len(CLASS_COLORS)).index
    return values.loc[:, values.columns.isin(largest)]


def _add_legend(ax: "Axes", left_out: int) -> None:
    title = f"{left_out:,} more not drawn" if left_out else None
    ax.legend(frameon=False, fontsize="small", title=title, loc="upper left", bbox_to_anchor=(1, 1))


def _rows_of(labels: Sequence[str], title: str, ax: "Axes | None", entries: int) -> "Axes":
    """Axes with a named row for each label, the first at the top, and room for a legend."""
    if ax is None:
        with needs_extra("A plot", "plot"):
            from matplotlib import pyplot
        size = (_WIDTH_IN, 1.4 + max(_ROW_IN * len(labels), _ENTRY_IN * entries))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")

    texts = [cell_text(text, _LONGEST) for text in labels]
    ax.set_yticks(range(len(labels)), texts, parse_math=False)
    ax.set_ylim(len(labels) - 0.5, -0.5)

    # The first sentence alone, on as many lines as it needs.
    sentence = cell_text(re.split(r";|\. ", title)[0], 3 * _LONGEST)
    ax.set_title(textwrap.fill(sentence, _LONGEST), loc="left", fontsize="medium", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
