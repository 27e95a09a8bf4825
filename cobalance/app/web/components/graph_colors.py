"""Colour a concept graph by a model's accuracy or by communities, with legends."""

import html
import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from cobalance.app.web.widgets import shorten
from cobalance.workflows import NEUTRAL, Facet, GraphPicture, accuracy_texts, concepts_of

WRONG_COLOR, RIGHT_COLOR = "#E69F00", "#5D3A9B"
"""Orange and purple, which differ in lightness, too, so that any colour vision tells them apart."""

FULL = 0.15
"""The difference from overall accuracy from which on the colour is full."""

Cliques = tuple[tuple[str, ...], ...]


def cliques_of(picture: GraphPicture) -> Cliques:
    """The concepts whose test images decide each colour.

    Returns
    -------
    tuple of tuple of str
        An empty clique for the overall accuracy, then one of each node and of each edge. Classes
        are left out: a class has the overall accuracy, an edge from it that of its concept.
    """
    nodes = [tuple(concepts_of([node.id])) for node in picture.nodes]
    edges = [tuple(concepts_of([edge.source, edge.target])) for edge in picture.edges]
    return ((), *nodes, *edges)


def color_by_accuracy(picture: GraphPicture, judged: pd.DataFrame) -> GraphPicture:
    """Colour a graph by accuracy: grey at the overall one, full from 15 points on.

    What no test image shows is grey, and called untested. Places and sizes stay. `judged` is as
    from `accuracy_by_clique`, in the order of `cliques_of`.
    """
    accuracy = judged["accuracy"]
    skews = ((accuracy - accuracy.iloc[0]) / FULL).clip(-1, 1).fillna(0).tolist()
    n_tested = judged["test_images"].tolist()
    notes = [
        f"{text}% of {images:,} test images right" if images else "No test image"
        for text, images in zip(accuracy_texts(judged), n_tested, strict=True)
    ]

    # Row 0 is the overall accuracy; the nodes follow it, and the edges follow them.
    nodes = []
    for row, node in enumerate(picture.nodes, start=1):
        if node.kind == "class":
            nodes.append(replace(node, skew=0.0))
        else:
            label = node.label if n_tested[row] else f"{node.label} (untested)"
            text = f"{node.description}\n{notes[row]}"
            nodes.append(replace(node, label=label, skew=skews[row], description=text))

    edges = []
    for row, edge in enumerate(picture.edges, start=1 + len(picture.nodes)):
        text = edge.description
        # An edge of a class has the accuracy of its concept, which that node's text tells.
        if len(concepts_of([edge.source, edge.target])) == 2:
            text = f"{text}\n{notes[row]}"
        edges.append(replace(edge, skew=skews[row], description=text))
    return replace(
        picture, nodes=nodes, edges=edges, left_color=WRONG_COLOR, right_color=RIGHT_COLOR
    )


def draw_accuracy_legend(judged: pd.DataFrame) -> None:
    """Draw the scale of colours: its ends, and the overall accuracy in between."""
    overall = float(judged["accuracy"].iloc[0])
    if math.isnan(overall):
        st.caption("No image of this dataset was tested.")
        return
    low, high = max(overall - FULL, 0.0), min(overall + FULL, 1.0)

    def stop(color: str, accuracy: float) -> str:
        return f"{color} {100 * (accuracy - low) / (high - low):.1f}%"

    # The ends of the gradient may lie outside of the bar, which ends at 0 and at 1.
    scale = ", ".join(
        (
            stop(WRONG_COLOR, overall - FULL),
            stop(NEUTRAL, overall),
            stop(RIGHT_COLOR, overall + FULL),
        )
    )
    low_text = f"≤ {low:.0%}" if low else "0%"
    high_text = f"≥ {high:.0%}" if high < 1 else "100%"
    st.html(
        '<div style="display:flex;align-items:center;gap:.5rem;font-size:.875rem">'
        f"<span>Accuracy: {low_text}</span>"
        '<span style="position:relative;flex:1;max-width:16rem;height:.75rem;border-radius:3px;'
        f'background:linear-gradient(to right in oklab, {scale})"></span>'
        f"<span>{high_text}</span><span>· grey: {overall:.1%}, as overall</span></div>"
    )


# Colours of classes that are visible on a light and on a dark background. Those of the first two
# classes are left out, as most datasets have two classes.
COMMUNITY_COLORS = (
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#999933",
    "#AA4499",
    "#117733",
    "#88CCEE",
)


def color_by_community(picture: GraphPicture, facets: Sequence[Facet]) -> GraphPicture:
    """Colour the nodes and links of the largest communities; the others are grey.

    A link within a community has its colour. Places and sizes stay.
    """
    facet_of: dict[str, Facet] = {}
    color_of: dict[str, str] = {}
    for color, facet in zip(COMMUNITY_COLORS, facets, strict=False):
        facet_of |= dict.fromkeys(facet.concepts, facet)
        color_of |= dict.fromkeys(facet.concepts, color)

    nodes, edges = [], []
    for node in picture.nodes:
        # A class is no concept, and has none of these names.
        name = next(iter(concepts_of([node.id])), "")
        text = node.description
        if name in facet_of:
            text = f"{text}\nOccurs with: {facet_of[name].name}"
        nodes.append(replace(node, color=color_of.get(name, NEUTRAL), description=text))
    for edge in picture.edges:
        ends = concepts_of([edge.source, edge.target])
        colors = {color_of.get(name, NEUTRAL) for name in ends}
        edges.append(replace(edge, color=colors.pop() if len(colors) == 1 else NEUTRAL))
    return replace(picture, nodes=nodes, edges=edges)


def draw_community_legend(facets: Sequence[Facet]) -> None:
    """Draw the colours with the most frequent concepts of each community."""
    if not facets:
        st.caption("All concepts are one community.")
        return

    n_grey = len(facets) - len(COMMUNITY_COLORS)
    with st.container(horizontal=True, gap="small"):
        for color, facet in zip(COMMUNITY_COLORS, facets, strict=False):
            chip = f'<span style="color:{color}" aria-hidden="true">●</span>'
            name = html.escape(shorten(facet.name, 40))
            st.html(f'<span style="font-size:.875rem">{chip} {name}</span>', width="content")
        if n_grey > 0:
            st.caption(f"{n_grey:,} smaller ones are grey.", width="content")
