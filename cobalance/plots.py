"""Results drawn with matplotlib."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobalance.graph.errors import needs_extra
from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from cobalance.workflows.report.plots import TICKS, skews

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_IN, _WIDTH_IN, _LONGEST = 0.28, 7.0, 40


def draw_bars(frame: pd.DataFrame, bars: Sequence[str], title: str, ax: "Axes | None") -> "Axes":
    """A group of bars for each row, one for each of some columns."""
    first = list(frame.columns).index(bars[0])
    names = [name for name in frame.columns[:first] if frame[name].dtype.kind not in "iuf"]
    labels = [" · ".join(map(cell_text, row)) for row in frame[names].itertuples(index=False)]
    ax = _rows_of(labels, title, ax)
    height = 0.8 / len(bars)
    for at, name in enumerate(bars):
        y = np.arange(len(frame)) + (at - (len(bars) - 1) / 2) * height
        color = CLASS_COLORS[at % len(CLASS_COLORS)]
        ax.barh(y, frame[name].astype(float), height, label=name, color=color)
    if len(bars) > 1:
        ax.legend(frameon=False)
    return ax


def draw_skews(frame: pd.DataFrame, class_sizes: Mapping[str, int], ax: "Axes | None") -> "Axes":
    """The figure of the report: how far each combination leans, from -1 to +1.

    With two classes a bar to the class that shows it more often; with more, a dot for each class
    against all others.
    """
    labels = [cell_text(concepts) for concepts in frame["concepts"]]
    ax = _rows_of(labels, "Skew of each combination", ax)
    found, names = skews(frame, class_sizes), [*class_sizes]
    rows = np.arange(len(frame))
    if len(names) == 2:
        leaning = found[names[1]].to_numpy()
        ax.barh(rows, leaning, color=[CLASS_COLORS[int(value > 0)] for value in leaning])
        ax.set_xlabel(f"-1: only {names[0]}; +1: only {names[1]}", parse_math=False)
    else:
        for at, name in enumerate(names):
            ax.plot(found[name], rows, "o", label=name, color=CLASS_COLORS[at % len(CLASS_COLORS)])
        ax.set_xlabel("-1: none of the class; +1: only it")
        ax.legend(frameon=False)
    ax.set_xlim(-1, 1)
    ax.set_xticks(TICKS)
    ax.axvline(0, color="0.5", linewidth=0.8)
    return ax


def _rows_of(labels: Sequence[str], title: str, ax: "Axes | None") -> "Axes":
    """Axes with a named row for each label, the first at the top."""
    if ax is None:
        with needs_extra("A plot", "plot"):
            from matplotlib import pyplot
        size = (_WIDTH_IN, 1.2 + _ROW_IN * len(labels))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    shown = [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in labels]
    ax.set_yticks(range(len(labels)), shown, parse_math=False)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_title(re.split(r";|\. ", title)[0], loc="left", fontsize="medium", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
