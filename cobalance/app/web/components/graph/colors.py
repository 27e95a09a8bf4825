"""Colour a concept graph by a model's accuracy or by communities, with legends."""

import html
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from cobalance.app.web.widgets.theme import shorten
from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphPicture
from cobalance.workflows.concept_graph.overview import concepts_of
from cobalance.workflows.diagnose.facets import Facet
from cobalance.workflows.evaluate.failures import accuracy_texts

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
    lean = ((accuracy - accuracy.iloc[0]) / FULL).clip(-1, 1).fillna(0).tolist()
    counts = judged["test_images"].tolist()
    said = [
        f"{text}% of {images:,} test images right" if images else "No test image"
        for text, images in zip(accuracy_texts(judged), counts, strict=True)
    ]
    first = 1 + len(picture.nodes)  # of the edges
    nodes = []
    for place, node in enumerate(picture.nodes, start=1):
        if node.kind == "class":
            nodes.append(replace(node, skew=0.0))
            continue
        label = node.label if counts[place] else f"{node.label} (untested)"
        text = f"{node.description}\n{said[place]}"
        nodes.append(replace(node, label=label, skew=lean[place], description=text))
    edges = []
    for place, edge in enumerate(picture.edges, start=first):
        of_class = len(concepts_of([edge.source, edge.target])) < 2
        text = edge.description if of_class else f"{edge.description}\n{said[place]}"
        edges.append(replace(edge, skew=lean[place], description=text))
    return replace(
        picture, nodes=nodes, edges=edges, left_color=WRONG_COLOR, right_color=RIGHT_COLOR
    )


def draw_accuracy_legend(judged: pd.DataFrame) -> None:
    """Draw the scale of colours: its ends, and the overall accuracy in between."""
    overall = float(judged["accuracy"].iloc[0])
    if overall != overall:
        st.caption("No image of this dataset was tested.")
        return
    low, high = max(overall - FULL, 0.0), min(overall + FULL, 1.0)

    def place(accuracy: float) -> str:
        return f"{100 * (accuracy - low) / (high - low):.1f}%"

    scale = ", ".join(
        f"{color} {place(accuracy)}"
        for color, accuracy in (
            (WRONG_COLOR, overall - FULL),
            (NEUTRAL, overall),
            (RIGHT_COLOR, overall + FULL),
        )
    )
    ends = (f"{'≤ ' if low else ''}{low:.0%}", f"{'≥ ' if high < 1 else ''}{high:.0%}")
    st.html(
        '<div style="display:flex;align-items:center;gap:.5rem;font-size:.875rem">'
        f"<span>Accuracy: {ends[0]}</span>"
        '<span style="position:relative;flex:1;max-width:16rem;height:.75rem;border-radius:3px;'
        f'background:linear-gradient(to right in oklab, {scale})"></span>'
        f"<span>{ends[1]}</span><span>· grey: {overall:.1%}, as overall</span></div>"
    )


# Of those of classes, the ones that are seen on light and on dark ground and that two classes, as
# most datasets have, leave free.
COMMUNITY_COLORS = (
    *("#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#999933", "#AA4499", "#117733", "#88CCEE"),
)


def color_by_community(picture: GraphPicture, facets: Sequence[Facet]) -> GraphPicture:
    """Colour the nodes and links of the largest communities; the others are grey.

    A link within a community has its colour. Places and sizes stay.
    """
    color_of = {
        name: (color, facet.name)
        for color, facet in zip(COMMUNITY_COLORS, facets, strict=False)
        for name in facet.concepts
    }
    nodes, edges = [], []
    for node in picture.nodes:
        (name,) = concepts_of([node.id]) or ("",)
        color, group = color_of.get(name, (NEUTRAL, ""))
        told = f"{node.description}\nOccurs with: {group}" if group else node.description
        nodes.append(replace(node, color=color, description=told))
    for edge in picture.edges:
        ends = {
            color_of.get(name, (NEUTRAL, ""))[0] for name in concepts_of([edge.source, edge.target])
        }
        edges.append(replace(edge, color=ends.pop() if len(ends) == 1 else NEUTRAL))
    return replace(picture, nodes=nodes, edges=edges)


def draw_community_legend(facets: Sequence[Facet]) -> None:
    """Draw the colours with the most frequent concepts of each community."""
    if not facets:
        st.caption("All concepts are one community.")
        return
    with st.container(horizontal=True, gap="small"):
        for color, facet in zip(COMMUNITY_COLORS, facets, strict=False):
            chip = f'<span style="color:{color}" aria-hidden="true">●</span>'
            name = html.escape(shorten(facet.name, 40))
            st.html(f'<span style="font-size:.875rem">{chip} {name}</span>', width="content")
        if len(facets) > len(COMMUNITY_COLORS):
            st.caption(
                f"{len(facets) - len(COMMUNITY_COLORS):,} smaller ones are grey.", width="content"
            )
