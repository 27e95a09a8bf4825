"""Colour a concept graph by where a model fails, with a legend."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphPicture
from cobalance.workflows.concept_graph.overview import concepts_of
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


def colored_by_accuracy(picture: GraphPicture, judged: pd.DataFrame) -> GraphPicture:
    """The picture in colours of accuracy: grey at the overall one, full from 15 points on.

    What no test image shows is grey, and called untested. Places and sizes stay.

    Parameters
    ----------
    judged : pandas.DataFrame
        As from `accuracy_by_clique`, in the order of `cliques_of`.
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


def legend(judged: pd.DataFrame) -> None:
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
