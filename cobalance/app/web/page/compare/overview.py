"""Totals of a comparison, and a chart of the cliques that changed most."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from cobalance.app.web.widgets import (
    before_and_after,
    clique_labels,
    count_column,
    draw_columns,
    name_color,
    names_axis,
    text_column,
)
from cobalance.statistics import COUNT_AFTER, COUNT_BEFORE, STATUSES, Comparison
from cobalance.workflows.cells import change_text, change_texts
from cobalance.workflows.concept_graph import class_colors

IN_PICTURE = 14  # cliques
# More classes than this have no columns and marks of their own.
MOST_CLASSES = 4
# Height of a picture's legend above it and its axis below.
_FRAME_PX = 110


def draw_chart(comparison: Comparison) -> None:
    """Draw images per class before and after, for the cliques that changed most."""
    classes = list(comparison.sizes_before)
    marks = marks_of(comparison.cliques.head(IN_PICTURE), classes)
    if marks.empty:
        return

    names = marks["what"].unique().tolist()
    cliques = marks["clique"].unique().tolist()
    axis = names_axis(230, grid=True)
    base = alt.Chart(marks).encode(
        y=alt.Y("clique:N", sort=cliques, title=None, axis=axis),
        yOffset=alt.YOffset("what:N", sort=names),
        color=name_color("what", names, class_colors(classes), legend=len(names) > 1),
        tooltip=[
            alt.Tooltip("clique:N", title="clique"),
            alt.Tooltip("what:N", title="class"),
            alt.Tooltip("before:Q", format=",.0f"),
            alt.Tooltip("after:Q", format=",.0f"),
        ],
    )
    title = "images" if len(classes) <= MOST_CLASSES else "gap, in images"
    chart = before_and_after(base, title, alt.Axis(format=",.0f", tickCount=5))

    # A clique has a line for each class.
    height = _FRAME_PX + len(cliques) * (14 + 10 * len(names))
    st.altair_chart(chart.properties(height=height), width="stretch", key="_compare_picture")
    st.caption("Ring: before. Disc: after. A ring alone: the clique is absent after.")


def marks_of(cliques: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """Data of the chart: a row for each clique and class, or with many classes for each gap.

    Returns
    -------
    pandas.DataFrame
        ``clique`` (its members, shortened, and each clique's text unique), ``what`` (the class,
        or "gap"), ``before`` and ``after`` (float64, NaN where the clique is absent).
    """
    columns = {"gap": ("gap_before", "gap_after")}
    if len(classes) <= MOST_CLASSES:
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
    "solved": "imbalanced before, and not any more",
    "introduced": "imbalanced now, and not before",
    "reduced": "imbalanced in both, with a smaller gap now",
    "grown": "imbalanced in both, with a larger gap now",
    "unchanged": "imbalanced in both, with the same gap",
    "absent": "imbalanced before; now no image shows it, a class lacks one of its concepts, or it "
    "was not mined",
}


def totals_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Totals of a comparison by clique size and in all.

    Returns
    -------
    pandas.DataFrame
        ``size`` (text; "all" in the last row), ``imbalanced_before``, ``imbalanced_after``,
        ``total_gap_before``, ``total_gap_after``, and a column for each status.
    """
    # A clique has one status: those introduced had no imbalance before, and those solved or absent
    # have none after.
    statuses = summary[list(STATUSES)]
    before = statuses.drop(columns="introduced").sum(axis=1)
    after = statuses.drop(columns=["solved", "absent"]).sum(axis=1)
    frame = pd.DataFrame(
        {
            "size": summary["size"].astype(str),
            "imbalanced_before": before,
            "imbalanced_after": after,
            "total_gap_before": summary["total_gap_before"],
            "total_gap_after": summary["total_gap_after"],
        }
    ).join(statuses)

    total = pd.DataFrame([{**frame.sum(numeric_only=True).to_dict(), "size": "all"}])
    return pd.concat([frame, total], ignore_index=True)[frame.columns]


def draw_totals(comparison: Comparison) -> None:
    """Draw the totals of all sizes as metrics, and the number of cliques of each status."""
    totals = totals_of(comparison.summary).iloc[-1]
    with st.container(horizontal=True, key="_compare_totals"):
        for label, name in (("Imbalanced cliques", "imbalanced"), ("Sum of gaps", "total_gap")):
            before, after = int(totals[f"{name}_before"]), int(totals[f"{name}_after"])
            # Streamlit draws an arrow upwards for a change of 0.
            delta = None if after == before else f"{after - before:+,}"
            st.metric(
                label,
                change_text(before, after),
                delta,
                delta_color="inverse",
                width="content",
            )

        st.space("small")
        for name in STATUSES:
            st.metric(
                name.capitalize(), f"{int(totals[name]):,}", help=f"{_MEANINGS[name].capitalize()}."
            )


def draw_sizes(comparison: Comparison) -> None:
    """Draw the totals of each size as a table."""
    totals = totals_of(comparison.summary)
    imbalanced = change_texts(totals["imbalanced_before"], totals["imbalanced_after"])
    gaps = change_texts(totals["total_gap_before"], totals["total_gap_after"])

    draw_columns(
        {
            "size": (totals["size"], text_column("Size", width=45)),
            "imbalanced": (imbalanced, text_column("Imbalanced", alignment="right", width=110)),
            "total_gap": (gaps, text_column("Sum of gaps", alignment="right", width=130)),
            "solved": (totals["solved"], count_column("Solved", 60)),
            "introduced": (totals["introduced"], count_column("Introduced", 80)),
        },
        None,
        alt="Imbalances of each size, before and after",
    )
