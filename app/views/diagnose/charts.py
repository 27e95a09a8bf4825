"""Charts of imbalances: a matrix of pairs, and an UpSet plot of combinations."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from app.concept_graph.colors import NEUTRAL, class_colors
from app.concept_graph.overview import Axis
from app.views.components.imbalance_table import MAX_BARS
from app.views.widgets.theme import distinct_labels, names_axis, shorten
from graph.diagnosis.imbalance import COUNT
from graph.queries.overview import Overview

MOST_IN_MATRIX = 40
MOST_COMBINATIONS = 20
_LABEL = 22  # characters
_COLUMN = alt.X("combination:O", axis=None)


def matrix(overview: Overview, axis: Axis) -> None:
    """Draw the matrix of how each pair of the most frequent concepts leans."""
    classes = list(overview.pair_class_sizes)
    names = overview.concepts.nlargest(MOST_IN_MATRIX, "images")["concept"].tolist()
    edges = overview.edges
    edges = edges[edges["concept_1"].isin(names) & edges["concept_2"].isin(names)]
    if edges.empty:
        st.caption("No pair of these concepts shares an image.")
        return
    lean = overview.edge_skew(*axis.codes([*overview.pair_class_sizes]))[edges.index]
    order = distinct_labels(names, _LABEL)
    label_of = dict(zip(names, order, strict=True))
    cells = pd.DataFrame(
        {
            "a": edges["concept_1"].map(label_of),
            "b": edges["concept_2"].map(label_of),
            "leaning": lean,
            "images": edges["images"],
            # Numbered: a class's name may hold what Vega-Lite's shorthand reads as syntax.
            **{f"n{i}": edges[COUNT + name] for i, name in enumerate(classes)},
        }
    )
    both = pd.concat([cells, cells.rename(columns={"a": "b", "b": "a"})], ignore_index=True)
    chart = (
        alt.Chart(both)
        .mark_rect(cornerRadius=2)
        .encode(
            x=alt.X("a:N", sort=order, title=None, axis=names_axis(150, labelAngle=-60)),
            y=alt.Y("b:N", sort=order, title=None, axis=names_axis(150)),
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
    """Draw an UpSet plot: combinations as columns of dots, their counts above.

    Counts are bars in the classes' colours; with many classes a mark for each.

    Parameters
    ----------
    top : pandas.DataFrame
        From `read_imbalances`; the first `MOST_COMBINATIONS` rows are drawn.
    """
    top = top.head(MOST_COMBINATIONS).reset_index(drop=True)
    if top.empty:
        st.caption("No combination to show.")
        return
    frequency = top["concepts"].explode().value_counts()
    concepts = dict(
        zip(frequency.index, distinct_labels(frequency.index.tolist(), _LABEL), strict=True)
    )
    few = len(class_sizes) <= MAX_BARS
    above = _counts(top, list(class_sizes))
    below = _members(top["concepts"].tolist(), concepts)
    chart = alt.vconcat(above, below, spacing=6).resolve_scale(x="shared", color="independent")
    st.altair_chart(chart, width="stretch", key="_combinations")
    st.caption(
        "Each column is one combination, in the order of the table; a large dot is a member."
        + ("" if few else " Above, each mark is a class: point at one for its name.")
    )


def _counts(top: pd.DataFrame, classes: list[str]) -> alt.Chart:
    counts = pd.DataFrame(
        [
            {"combination": i, "class": name, "images": row[COUNT + name]}
            for i, row in top.iterrows()
            for name in classes
        ]
    )
    base = alt.Chart(counts, height=180, width="container").encode(
        x=_COLUMN,
        y=alt.Y("images:Q", title="images"),
        tooltip=[alt.Tooltip("class:N"), alt.Tooltip("images:Q", format=",")],
    )
    drawn: alt.Chart
    if len(classes) > MAX_BARS:
        drawn = base.mark_tick(color=NEUTRAL, thickness=2, opacity=0.75)
        return drawn
    colors = class_colors(classes)
    drawn = base.mark_bar().encode(
        xOffset=alt.XOffset("class:N", sort=classes),
        color=alt.Color(
            "class:N",
            sort=classes,
            scale=alt.Scale(domain=classes, range=[colors[name] for name in classes]),
            legend=alt.Legend(orient="top", title=None, labelLimit=120),
        ),
    )
    return drawn


def _members(combinations: list[Sequence[str]], concepts: Mapping[str, str]) -> alt.Chart:
    order = list(concepts.values())
    dots = pd.DataFrame(
        [
            {"combination": i, "concept": label, "member": name in members}
            for i, members in enumerate(combinations)
            for name, label in concepts.items()
        ]
    )
    drawn: alt.Chart = (
        alt.Chart(dots)
        .mark_circle(color=NEUTRAL)
        .encode(
            x=_COLUMN,
            y=alt.Y("concept:N", sort=order, title=None, axis=names_axis(160)),
            size=alt.condition("datum.member", alt.value(110), alt.value(12)),
            opacity=alt.condition("datum.member", alt.value(1), alt.value(0.5)),
            tooltip=[alt.Tooltip("concept:N")],
        )
        .properties(height=max(18 * len(order), 60), width="container")
    )
    return drawn
