"""Charts of imbalances beside the graph: a matrix of pairs, and combinations in UpSet style."""

from collections.abc import Mapping

import altair as alt
import pandas as pd
import streamlit as st

from app.views.picture import Axis
from app.views.theme import class_colors, shorten
from graph.imbalance import COUNT
from graph.overview import Overview

MOST_IN_MATRIX = 40
_LABEL = 24  # characters


def matrix(overview: Overview, axis: Axis) -> None:
    """Draw how each pair of the most frequent concepts leans."""
    classes = list(overview.pair_class_sizes)
    names = overview.concepts.nlargest(MOST_IN_MATRIX, "images")["concept"].tolist()
    edges = overview.edges
    edges = edges[edges["concept_1"].isin(names) & edges["concept_2"].isin(names)]
    if edges.empty:
        st.caption("No pair of these concepts shares an image.")
        return
    lean = overview.edge_skew(*axis.codes([*overview.pair_class_sizes]))[edges.index]
    cells = pd.DataFrame(
        {
            "a": edges["concept_1"].map(lambda name: shorten(name, _LABEL)),
            "b": edges["concept_2"].map(lambda name: shorten(name, _LABEL)),
            "leaning": lean,
            "images": edges["images"],
            # Numbered: a class's name may hold what Vega-Lite's shorthand reads as syntax.
            **{f"n{i}": edges[COUNT + name] for i, name in enumerate(classes)},
        }
    )
    both = pd.concat([cells, cells.rename(columns={"a": "b", "b": "a"})], ignore_index=True)
    order = [shorten(name, _LABEL) for name in names]
    chart = (
        alt.Chart(both)
        .mark_rect(cornerRadius=2)
        .encode(
            x=alt.X(
                "a:N",
                sort=order,
                title=None,
                axis=alt.Axis(labelAngle=-60, labelLimit=110, labelOverlap=False),
            ),
            y=alt.Y(
                "b:N", sort=order, title=None, axis=alt.Axis(labelLimit=110, labelOverlap=False)
            ),
            color=alt.Color(
                "leaning:Q",
                title=f"{shorten(axis.left_name, 16)} … {shorten(axis.right_name, 16)}",
                scale=alt.Scale(
                    domain=[-1, 0, 1],
                    range=[axis.left_color, "#D9DBDF", axis.right_color],
                    interpolate="rgb",
                ),
                legend=alt.Legend(orient="top", gradientLength=160),
            ),
            tooltip=[
                alt.Tooltip("a:N", title="concept"),
                alt.Tooltip("b:N", title="and"),
                alt.Tooltip("images:Q", format=","),
                *(
                    alt.Tooltip(f"n{i}:Q", title=shorten(name, _LABEL), format=",")
                    for i, name in enumerate(classes[:8])
                ),
            ],
        )
        .properties(height=alt.Step(20 if len(names) <= 24 else 14))
    )
    st.altair_chart(chart, width="stretch", key="_matrix")
    left_out = len(overview.concepts) - len(names) + overview.hidden_concepts
    if left_out:
        st.caption(f"The {len(names)} most frequent concepts; {left_out:,} more are not shown.")


def combinations(top: pd.DataFrame, class_sizes: Mapping[str, int]) -> None:
    """Draw the combinations with the largest gaps: members as dots, counts as bars.

    Parameters
    ----------
    top : pandas.DataFrame
        From `read_imbalances`, the first rows.
    """
    top = top.head(20).reset_index(drop=True)
    if top.empty:
        st.caption("No combination to show.")
        return
    colors = class_colors(list(class_sizes))
    shown = list(class_sizes)[:8]
    bars = pd.DataFrame(
        [
            {"combination": i, "class": name, "images": row[COUNT + name]}
            for i, row in top.iterrows()
            for name in shown
        ]
    )
    frequency = top["concepts"].explode().value_counts()
    concepts = [shorten(name, _LABEL) for name in frequency.index]
    dots = pd.DataFrame(
        [
            {"combination": i, "concept": shorten(name, _LABEL), "member": name in row["concepts"]}
            for i, row in top.iterrows()
            for name in frequency.index
        ]
    )
    x = alt.X("combination:O", axis=None)
    above = (
        alt.Chart(bars)
        .mark_bar()
        .encode(
            x=x,
            xOffset=alt.XOffset("class:N", sort=shown),
            y=alt.Y("images:Q", title="images"),
            color=alt.Color(
                "class:N",
                sort=shown,
                scale=alt.Scale(domain=shown, range=[colors[name] for name in shown]),
                legend=alt.Legend(orient="top", title=None, labelLimit=160),
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("images:Q", format=",")],
        )
        .properties(height=180, width="container")
    )
    below = (
        alt.Chart(dots)
        .mark_circle(size=80)
        .encode(
            x=x,
            y=alt.Y("concept:N", sort=concepts, title=None, axis=alt.Axis(labelLimit=160)),
            color=alt.condition("datum.member", alt.value("#5B6270"), alt.value("#8A8F9833")),
            tooltip=[alt.Tooltip("concept:N")],
        )
        .properties(height=max(16 * len(concepts), 60), width="container")
    )
    chart = alt.vconcat(above, below, spacing=6).resolve_scale(x="shared", color="independent")
    st.altair_chart(chart, width="stretch", key="_combinations")
    st.caption("Each column is one combination, the largest gaps first; a filled dot is a member.")
