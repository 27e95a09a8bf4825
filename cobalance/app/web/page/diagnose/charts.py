"""Charts of imbalances: a matrix of pairs, and an UpSet plot of combinations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from cobalance.app.web.components import details
from cobalance.app.web.state import url
from cobalance.app.web.widgets import FIT_WIDTH, distinct_labels, name_color, names_axis, shorten
from cobalance.graph import Overview
from cobalance.statistics import COUNT, RATE
from cobalance.workflows import NEUTRAL, Axis, class_colors

MOST_IN_MATRIX = 40
MOST_COMBINATIONS, MOST_BARS = 20, 120
NAMES_PX = 160
_LABEL = 22  # characters
_CLASSES_IN_TOOLTIP = 8
_CLICKED = "clicked"
_COLUMN = alt.X("combination:O", axis=None)


def matrix(overview: Overview, axis: Axis) -> None:
    """Draw the matrix of how each pair of the most frequent concepts leans."""
    names = overview.concepts.nlargest(MOST_IN_MATRIX, "images")["concept"].tolist()
    edges = overview.edges
    edges = edges[edges["concept_1"].isin(names) & edges["concept_2"].isin(names)]
    if edges.empty:
        st.caption("No pair of these concepts shares an image.")
        return

    chart = _matrix_chart(overview, edges, names, axis)
    pairs = list(zip(edges["concept_1"], edges["concept_2"], strict=True))

    def open_pair(clicked: Mapping[str, Any]) -> None:
        url.show_images(tuple(sorted(pairs[clicked["pair"]])))

    _clickable(chart, "_matrix", ["pair"], open_pair, "How pairs of concepts lean")
    left_out = len(overview.concepts) - len(names) + overview.hidden_concepts
    if left_out:
        st.caption(f"The {len(names)} most frequent concepts; {left_out:,} more are not shown.")


def _matrix_chart(
    overview: Overview, edges: pd.DataFrame, names: list[str], axis: Axis
) -> alt.Chart:
    """Squares of pairs, each on both sides of the diagonal, coloured by the class they lean to."""
    classes = list(overview.pair_class_sizes)
    labels = distinct_labels(names, _LABEL)
    label_of = dict(zip(names, labels, strict=True))
    # Numbered: a class's name may hold what Vega-Lite's shorthand reads as syntax.
    counts = {f"n{i}": edges[COUNT + name] for i, name in enumerate(classes)}
    cells = pd.DataFrame(
        {
            "pair": range(len(edges)),
            "a": edges["concept_1"].map(label_of),
            "b": edges["concept_2"].map(label_of),
            "leaning": overview.edge_skew(*axis.codes(classes))[edges.index],
            "images": edges["images"],
            **counts,
        }
    )
    mirrored = cells.rename(columns={"a": "b", "b": "a"})

    color = alt.Color(
        "leaning:Q",
        title=f"{shorten(axis.left_name, 16)} … {shorten(axis.right_name, 16)}",
        scale=alt.Scale(
            domain=[-1, 0, 1],
            range=[axis.left_color, "#D9DBDF", axis.right_color],
            interpolate="rgb",
        ),
        legend=alt.Legend(orient="top", gradientLength=160),
    )
    class_tooltips = [
        alt.Tooltip(f"n{i}:Q", title=shorten(name, _LABEL), format=",")
        for i, name in enumerate(classes[:_CLASSES_IN_TOOLTIP])
    ]

    both = pd.concat([cells, mirrored], ignore_index=True)
    squares = alt.Chart(both).mark_rect(cornerRadius=2, cursor="pointer")
    chart: alt.Chart = squares.encode(
        x=alt.X("a:N", sort=labels, title=None, axis=names_axis(150, labelAngle=-60)),
        y=alt.Y("b:N", sort=labels, title=None, axis=names_axis(150)),
        color=color,
        tooltip=[
            alt.Tooltip("a:N", title="concept"),
            alt.Tooltip("b:N", title="and"),
            alt.Tooltip("images:Q", format=","),
            *class_tooltips,
        ],
    )
    step_px = 20 if len(names) <= 24 else 14
    return chart.properties(height=step_px * both["b"].nunique(), autosize=FIT_WIDTH)


def combinations(top: pd.DataFrame, class_sizes: Mapping[str, int], *, shares: bool) -> None:
    """Draw an UpSet plot: combinations as columns of dots, bars in the classes' colours above.

    Parameters
    ----------
    top : pandas.DataFrame
        From `read_imbalances`; the first rows are drawn, fewer where there are many classes.
    shares : bool
        Whether bars are shares of each class's images, and not counts.

    References
    ----------
    Lex et al., "UpSet: visualization of intersecting sets" (IEEE TVCG 20, 2014).
    """
    classes = classes_to_draw(top, list(class_sizes))
    # As many combinations as leave each bar some width.
    most = min(MOST_COMBINATIONS, MOST_BARS // max(len(classes), 1))
    top = top.head(most).reset_index(drop=True)
    if top.empty:
        st.caption("No combination to show.")
        return

    by_frequency = top["concepts"].explode().value_counts().index.tolist()
    labels = dict(zip(by_frequency, distinct_labels(by_frequency, _LABEL), strict=True))
    colors = class_colors(list(class_sizes))
    cliques = top["concepts"].tolist()

    def open_bar(clicked: Mapping[str, Any]) -> None:
        url.show_images(tuple(cliques[clicked["combination"]]), clicked["class"])

    bars = "the share of each class's images" if shares else "images of each class"
    # Two charts, as Streamlit tells of clicks in a chart of one view alone.
    with st.container(gap=None):
        _clickable(
            _bars(top, {name: colors[name] for name in classes}, shares=shares),
            "_combinations",
            ["combination", "class"],
            open_bar,
            f"The {len(top)} first combinations of the table, with bars for {bars}",
        )
        st.altair_chart(
            _members(cliques, labels), width="stretch", key="_members", alt="Their concepts"
        )

    caption = (
        f"Each column is one combination, in the order of the table; its dots are its concepts, "
        f"its bars {bars}."
    )
    hidden = len(class_sizes) - len(classes)
    if hidden:
        caption += f" {hidden:,} more classes have no bars."
    st.caption(caption)


def _clickable(
    chart: alt.Chart,
    key: str,
    fields: list[str],
    on_click: Callable[[Mapping[str, Any]], None],
    description: str,
) -> None:
    """Draw a chart of which a click on a mark passes its fields to `on_click`."""
    # Another key once the drawer was closed, so that the same mark can be clicked again.
    key = f"{key} {details.times_closed()}"
    selection = alt.selection_point(name=_CLICKED, fields=fields, toggle=False)

    def take_click() -> None:
        marks = st.session_state[key].selection.get(_CLICKED)
        if marks:
            on_click(marks[0])

    st.altair_chart(
        chart.add_params(selection),
        width="stretch",
        key=key,
        on_select=take_click,
        selection_mode=_CLICKED,
        alt=description,
    )


def classes_to_draw(top: pd.DataFrame, classes: Sequence[str]) -> list[str]:
    """Classes to draw as bars: all of a few, else the ones that lead most often.

    Examples
    --------
    >>> top = pd.DataFrame({"highest_rate": ["m", "b", "m"], "lowest_rate": ["a", "b", "b"]})
    >>> classes_to_draw(top, ["a", "b"]), classes_to_draw(top, list("abcdefghijklm"))
    (['a', 'b'], ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'])
    """
    leads = pd.concat([top["highest_rate"], top["lowest_rate"]]).astype(object).value_counts()
    colors = class_colors(classes)

    # Bars of equal colour could not be told apart: one class of each colour is drawn.
    class_of_color: dict[str, str] = {}
    for name in sorted(classes, key=lambda name: (-int(leads.get(name, 0)), name)):
        class_of_color.setdefault(colors[name], name)
    return [name for name in classes if name in class_of_color.values()]


def _beside_names(**options: Any) -> alt.Axis:
    """An axis as wide as that of the names below, so that bars stand above their dots."""
    return alt.Axis(minExtent=NAMES_PX, maxExtent=NAMES_PX, **options)


def _bars(top: pd.DataFrame, colors: Mapping[str, str], *, shares: bool) -> alt.Chart:
    """Bars of each class's images side by side, for each combination."""
    classes = list(colors)
    bars = [
        {
            "combination": i,
            "concepts": " + ".join(row["concepts"]),
            "class": name,
            "images": row[COUNT + name],
            "share": row[RATE + name],
        }
        for i, row in top.iterrows()
        for name in classes
    ]

    if shares:
        height = alt.Y("share:Q", title="% of class", axis=_beside_names(format=".0%"))
    else:
        height = alt.Y("images:Q", title="images", axis=_beside_names())
    return (
        alt.Chart(pd.DataFrame(bars), height=180, width="container")
        .mark_bar(cursor="pointer")
        .encode(
            x=_COLUMN,
            xOffset=alt.XOffset("class:N", sort=classes),
            y=height,
            color=name_color("class", classes, colors, labelLimit=120, columns=4),
            tooltip=[
                alt.Tooltip("concepts:N"),
                alt.Tooltip("class:N"),
                alt.Tooltip("images:Q", format=","),
                alt.Tooltip("share:Q", title="of the class", format=".1%"),
            ],
        )
    )


def _members(combinations: list[Sequence[str]], labels: Mapping[str, str]) -> alt.Chart:
    """Dots of each combination's concepts, with a line between them."""
    order = list(labels.values())
    dots = pd.DataFrame(
        [
            {"combination": i, "concept": labels[name]}
            for i, members in enumerate(combinations)
            for name in members
        ]
    )
    # A line goes from dot to dot in the order of the rows.
    dots["place"] = dots["concept"].map(order.index)

    names = names_axis(NAMES_PX, grid=True, minExtent=NAMES_PX, maxExtent=NAMES_PX)
    return (
        alt.Chart(dots)
        .mark_line(color=NEUTRAL, strokeWidth=2, point=alt.OverlayMarkDef(color=NEUTRAL, size=90))
        .encode(
            x=_COLUMN,
            y=alt.Y("concept:N", sort=order, title="concepts", axis=names),
            detail="combination:O",
            order="place:Q",
            tooltip=[alt.Tooltip("concept:N")],
        )
        .properties(height=max(18 * len(order), 60), width="container")
    )
