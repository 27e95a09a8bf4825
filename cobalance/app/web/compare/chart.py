"""Chart of the cliques that changed most: images before and after."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from cobalance.app.web.widgets.theme import clique_labels, names_axis
from cobalance.graph.diagnosis.comparison import COUNT_AFTER, COUNT_BEFORE, Comparison
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors

IN_PICTURE = 14  # cliques
MOST_CLASSES = 4  # with columns and marks of their own
_FRAME_PX = 110  # of a picture: its legend above and its axis below


def draw_chart(found: Comparison) -> None:
    """Draw images per class before and after, for the cliques that changed most."""
    classes = list(found.sizes_before)
    marks = marks_of(found.cliques.head(IN_PICTURE), classes)
    if marks.empty:
        return
    colors = class_colors(classes)
    names = list(dict.fromkeys(marks["what"]))
    y = alt.Y(
        "clique:N",
        sort=list(dict.fromkeys(marks["clique"])),
        title=None,
        axis=names_axis(230, grid=True),
    )
    color = alt.Color(
        "what:N",
        sort=names,
        scale=alt.Scale(domain=names, range=[colors.get(name, NEUTRAL) for name in names]),
        legend=alt.Legend(orient="top", title=None, labelLimit=160) if len(names) > 1 else None,
    )
    tooltips = [
        alt.Tooltip("clique:N", title="clique"),
        alt.Tooltip("what:N", title="class"),
        alt.Tooltip("before:Q", format=",.0f"),
        alt.Tooltip("after:Q", format=",.0f"),
    ]
    base = alt.Chart(marks).encode(y=y, yOffset=alt.YOffset("what:N", sort=names), color=color)
    title = "images" if len(classes) <= MOST_CLASSES else "gap, in images"
    chart = alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("before:Q", title=title, axis=alt.Axis(format=",.0f", tickCount=5)),
            x2="after:Q",
        ),
        base.mark_point(size=45, filled=False, strokeWidth=2).encode(
            x="before:Q", tooltip=tooltips
        ),
        base.mark_point(size=55, filled=True, opacity=1).encode(x="after:Q", tooltip=tooltips),
    ).properties(height=_FRAME_PX + marks["clique"].nunique() * (14 + 10 * len(names)))
    st.altair_chart(chart, width="stretch", key="_compare_picture")
    st.caption("Ring: before. Disc: after. A ring alone: the clique is absent after.")


def marks_of(cliques: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """Data of the chart: a row for each clique and class, or with many classes for each gap.

    Returns
    -------
    pandas.DataFrame
        ``clique`` (its members, shortened, and each clique's text unique), ``what`` (the class,
        or "gap"), ``before`` and ``after`` (float64, NaN where the clique is absent).
    """
    labels = clique_labels(cliques["concepts"])
    columns = (
        {name: (COUNT_BEFORE + name, COUNT_AFTER + name) for name in classes}
        if len(classes) <= MOST_CLASSES
        else {"gap": ("gap_before", "gap_after")}
    )
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
