"""Totals of a comparison, and a chart of the cliques that changed most."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from cobalance.app.web.widgets import (
    before_and_after,
    clique_labels,
    count_column,
    draw_columns,
    name_color,
    names_axis,
    text_column,
)
from cobalance.graph.queries import StepId
from cobalance.statistics import COUNT_AFTER, COUNT_BEFORE, Comparison, statuses_of
from cobalance.workflows.cells import change_text, change_texts, signed_text
from cobalance.workflows.compare import MOST_CLASSES
from cobalance.workflows.concept_graph import class_colors
from cobalance.workflows.plan import bits_text

IN_PICTURE = 14  # cliques
# Height of a picture's legend above it and its axis below.
_FRAME_PX = 110


def draw_chart(comparison: Comparison) -> None:
    """Draw the cliques that changed most before and after: rate differences, or counts."""
    marks = marks_of(comparison, IN_PICTURE)
    if marks.empty:
        return

    by_rates = comparison.by == "rates"
    names = marks["what"].unique().tolist()
    cliques = marks["clique"].unique().tolist()
    axis = names_axis(230, grid=True)
    form = ".1%" if by_rates else ",.0f"
    colors = class_colors(list(comparison.sizes_before))
    base = alt.Chart(marks).encode(
        y=alt.Y("clique:N", sort=cliques, title=None, axis=axis),
        yOffset=alt.YOffset("what:N", sort=names),
        color=name_color("what", names, colors, legend=len(names) > 1),
        tooltip=[
            alt.Tooltip("clique:N", title="clique"),
            alt.Tooltip("what:N", title="of"),
            alt.Tooltip("before:Q", format=form),
            alt.Tooltip("after:Q", format=form),
        ],
    )
    title = names[0] if len(names) == 1 else "images"
    numbers = alt.Axis(format=".0%" if by_rates else ",.0f", tickCount=5)
    chart = before_and_after(base, title, numbers)

    # A clique has a line for each of the names.
    height = _FRAME_PX + len(cliques) * (14 + 10 * len(names))
    st.altair_chart(chart.properties(height=height), width="stretch", key="_compare_picture")
    st.caption("Ring: before. Disc: after. A ring alone: the clique is absent after.")


def marks_of(comparison: Comparison, most: int) -> pd.DataFrame:
    """Data of the chart: a row for each of the first cliques, and by counts for each class.

    Returns
    -------
    pandas.DataFrame
        ``clique`` (its members, shortened, and each clique's text unique), ``what`` (the class,
        "rate difference", or with many classes "gap, in images"), ``before`` and ``after``
        (float64, NaN where the clique is absent).
    """
    cliques, classes = comparison.cliques.head(most), list(comparison.sizes_before)
    if comparison.by == "rates":
        columns = {"rate difference": ("difference_before", "difference_after")}
    elif len(classes) > MOST_CLASSES:
        columns = {"gap, in images": ("gap_before", "gap_after")}
    else:
        columns = {name: (COUNT_BEFORE + name, COUNT_AFTER + name) for name in classes}

    labels = clique_labels(cliques["concepts"])
    marks = [
        pd.DataFrame(
            {
                "clique": labels,
                "what": what,
                "before": cliques[before].to_numpy("float64", na_value=float("nan")),
                "after": cliques[after].to_numpy("float64", na_value=float("nan")),
            }
        )
        for what, (before, after) in columns.items()
    ]
    return pd.concat(marks, ignore_index=True)


_MEANINGS = {
    "lost its lean": "leaned to a class before, and does not any more",
    "weaker": "leans in both, by less now, beyond chance",
    "within noise": "leans in both, and chance explains the change",
    "stronger": "leans in both, by more now, beyond chance",
    "new": "leans to a class now, and did not before",
    "solved": "a gap before, and none any more",
    "introduced": "a gap now, and none before",
    "reduced": "a gap in both, smaller now",
    "grown": "a gap in both, larger now",
    "unchanged": "the same gap in both",
    "absent": "imbalanced before; now no image shows it, a class lacks one of its concepts, or it "
    "was not mined",
}
_LEANING = "Combinations whose rates differ between the classes beyond chance, q of at most 0.05."


def classes_compared(comparison: Comparison) -> tuple[str, str] | None:
    """The two classes of the largest change of rates, to draw the graph between; None without."""
    if comparison.by == "counts" or comparison.cliques.empty:
        return None
    first = comparison.cliques.iloc[0]
    return first["lowest"], first["highest"]


def step_numbers(comparison: Comparison) -> dict[StepId, str]:
    """What stands below the first and the last step of the graph: how many lean, by how much."""
    totals = comparison.totals()
    steps: dict[StepId, str] = {"dataset": "before", "after": "after"}
    if comparison.by == "counts":
        gaps = {step: totals[f"total_gap_{of}"] for step, of in steps.items()}
        return {step: f"gaps of {gap:,.0f} images" for step, gap in gaps.items()}
    return {
        step: numbers_text(totals[f"leaning_{of}"], totals[f"largest_{of}"])
        for step, of in steps.items()
    }


def numbers_text(leaning: float, largest: float) -> str:
    """How many combinations lean, and the largest rate difference: ``673 lean, most 69.7%``."""
    return f"{leaning:,.0f} lean, most {largest:.1%}"


def draw_totals(comparison: Comparison) -> None:
    """Draw the measures of a comparison."""
    totals = comparison.totals()
    with st.container(horizontal=True, key="_compare_totals"):
        if comparison.by == "rates":
            _draw_rates(comparison, totals)
        else:
            _draw_change("Sum of gaps", totals["total_gap_before"], totals["total_gap_after"])


def draw_statuses(comparison: Comparison) -> None:
    """Draw how many cliques have each status, as a table with its meaning."""
    totals, names = comparison.totals(), list(statuses_of(comparison.by))
    draw_columns(
        {
            "of": (names, text_column("Status", width=95)),
            "cliques": ([int(totals[name]) for name in names], count_column("Cliques", 70)),
            "meaning": ([_MEANINGS[name] for name in names], text_column("Meaning")),
        },
        None,
        alt="How many cliques have each status",
    )


def _draw_rates(comparison: Comparison, totals: Mapping[str, float]) -> None:
    leaning = totals["leaning_before"], totals["leaning_after"]
    _draw_change("Lean to a class", *leaning, purpose=_LEANING)
    largest = totals["largest_before"], totals["largest_after"]
    _draw_change("Largest difference", *largest, ".1%", "Of those that lean before or after.")
    sums = totals["difference_before"], totals["difference_after"]
    _draw_change("Rate differences", *sums, ".2f", "The sum of those of what leaned before.")
    if comparison.bits:
        st.metric(
            "Concepts alone tell",
            bits_text(comparison.bits).replace("-", "\N{MINUS SIGN}"),
            help="Of the class of images that the model has not seen; 0 is no shortcut.",
        )


def _draw_change(
    label: str, before: float, after: float, form: str = ",.0f", purpose: str | None = None
) -> None:
    """Draw a measure before and after; less is better."""
    # Streamlit draws an arrow upwards for a change of 0, and for a minus sign.
    delta = None if after == before else signed_text(after - before, form)
    st.metric(
        label,
        change_text(before, after, form),
        delta,
        delta_color="green" if after < before else "red",
        delta_arrow="down" if after < before else "up",
        width="content",
        help=purpose,
    )


def draw_sizes(comparison: Comparison) -> None:
    """Draw the totals of each size as a table."""
    summary = comparison.summary
    columns: dict[str, tuple[Any, ColumnConfig]] = {
        "size": (summary["size"].astype(str).tolist(), text_column("Size", width=45))
    }
    right_aligned = partial(text_column, alignment="right", width=120)
    if comparison.by == "rates":
        leaning = change_texts(summary["leaning_before"], summary["leaning_after"])
        sums = change_texts(summary["difference_before"], summary["difference_after"], ".2f")
        columns["leaning"] = (leaning, right_aligned("Lean"))
        columns["differences"] = (sums, right_aligned("Rate differences"))
        gone, new = "lost its lean", "new"
    else:
        gaps = change_texts(summary["total_gap_before"], summary["total_gap_after"])
        columns["total_gap"] = (gaps, right_aligned("Sum of gaps"))
        gone, new = "solved", "introduced"

    for name in (gone, new):
        columns[name] = (summary[name], count_column(name.capitalize(), 90))
    draw_columns(columns, None, alt="Imbalances of each size, before and after")
