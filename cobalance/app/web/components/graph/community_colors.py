"""Colour a concept graph by its communities: concepts that occur together, with a legend."""

import html
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from cobalance.app.web.widgets.theme import shorten
from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphPicture
from cobalance.workflows.concept_graph.overview import concepts_of
from cobalance.workflows.diagnose.facets import Facet

# Of those of classes, the ones that are seen on light and on dark ground and that two classes, as
# most datasets have, leave free.
COLORS = (
    *("#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#999933", "#AA4499", "#117733", "#88CCEE"),
)


def colored_by_community(picture: GraphPicture, facets: Sequence[Facet]) -> GraphPicture:
    """The picture in colours of the largest communities; what is in none of them is grey.

    A link within a community has its colour. Places and sizes stay.
    """
    color_of = {
        name: (color, facet.name)
        for color, facet in zip(COLORS, facets, strict=False)
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


def legend(facets: Sequence[Facet]) -> None:
    """Draw the colours with the most frequent concepts of each community."""
    if not facets:
        st.caption("All concepts are one community.")
        return
    with st.container(horizontal=True, gap="small"):
        for color, facet in zip(COLORS, facets, strict=False):
            chip = f'<span style="color:{color}" aria-hidden="true">●</span>'
            name = html.escape(shorten(facet.name, 40))
            st.html(f'<span style="font-size:.875rem">{chip} {name}</span>', width="content")
        if len(facets) > len(COLORS):
            st.caption(f"{len(facets) - len(COLORS):,} smaller ones are grey.", width="content")
