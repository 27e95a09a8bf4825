"""Diagnose's concept graph, beside the rows of the table and with choices of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import (
    choose_axis,
    graph_colors,
    imbalance_filters,
    model_accuracy,
)
from cobalance.app.web.page.diagnose import table
from cobalance.app.web.state import CurrentDataset, choice_in_url, number_in_url, url
from cobalance.app.web.widgets import errors_in_fragment, escape, unless_empty
from cobalance.graph import Evaluation, Overview, Ranking, read_overview
from cobalance.workflows import (
    Axis,
    GraphPicture,
    concepts_of,
    node_id,
    of_overview,
    read_communities,
)

GRAPH = "diagnose_graph"
# The concepts that were selected in the graph, until the page has filtered by them.
NODES = "_chosen_nodes"
EDGES = (100, 200, 400, 800)
BY_CLASS, BY_GROUP, BY_ACCURACY = "Class", "Group", "Accuracy"


@dataclass(frozen=True)
class Rows:
    """The rows beside a picture, with their ranking and colours."""

    frame: pd.DataFrame
    ranking: Ranking
    model: Evaluation | None = None


def options(controls: DeltaGenerator, what: str) -> DeltaGenerator:
    """A place behind a button for the choices of a picture."""
    return controls.popover("", icon=":material/tune:", help=what, key="_picture_options")


@st.fragment(key=table.GRAPH)
def draw(current: CurrentDataset, rows: Rows, controls: DeltaGenerator, height_px: int) -> None:
    """Draw the concept graph with its choices and legend; concepts selected there filter."""
    with errors_in_fragment():
        with options(controls, "Classes, links and colours of the graph"):
            axis = choose_axis(current)
            edges, color = _choose_links_and_color(rows.model)
        overview = _read_graph(current, rows.ranking, edges)
        plain = of_overview(overview, axis)
        picture, draw_color_legend = _color_graph(current, plain, color, rows.model)

        filtered = st.session_state[imbalance_filters.CONCEPTS]
        state = concept_graph(
            picture,
            key=GRAPH,
            highlighted=list(map(_node_ids, url.selected_cliques())),
            cliques=list(map(_node_ids, rows.frame.get("concepts", ()))),
            groups=[_node_ids(rows.ranking.any_of)],
            selected=_node_ids(filtered),
            height_px=height_px,
            label="Concepts between the classes that they lean to",
        )
        chosen = concepts_of(state.nodes)
        if set(chosen) != set(filtered):
            # The filter stands above, and has been drawn already.
            st.session_state[NODES] = chosen
            st.rerun()

        if draw_color_legend is not None:
            draw_color_legend()
        _legend(axis, overview)


def _read_graph(current: CurrentDataset, ranking: Ranking, edges: int) -> Overview:
    """Read the graph, with all concepts that are selected or filtered by."""
    overview = current.read(read_overview, max_edges=edges)
    concepts = concepts_to_draw(ranking)
    # Mostly they are among the frequent ones, and a tick then waits for no query.
    if {*concepts} <= {*overview.concepts["concept"]}:
        return overview
    return current.read(read_overview, max_edges=edges, include=concepts)


def _node_ids(concepts: Sequence[str]) -> list[str]:
    return list(map(node_id, concepts))


def concepts_to_draw(ranking: Ranking) -> tuple[str, ...]:
    """Concepts that are drawn however rare: those selected, and those filtered by."""
    concepts = {*ranking.any_of, *st.session_state[imbalance_filters.CONCEPTS]}
    return tuple(sorted(concepts.union(*url.selected_cliques())))


def _choose_links_and_color(model: Evaluation | None) -> tuple[int, str]:
    """Draw the choice of the graph's links and colours."""
    kinds = [BY_CLASS, BY_GROUP]
    if model is not None:
        kinds.append(BY_ACCURACY)
    edges = st.selectbox("Links", EDGES, index=1, **number_in_url("edges"))
    color = st.selectbox("Colour", kinds, **choice_in_url("color"))
    return edges, color


def _color_graph(
    current: CurrentDataset, picture: GraphPicture, color: str, model: Evaluation | None
) -> tuple[GraphPicture, Callable[[], None] | None]:
    """Colour the graph as chosen; return it with a function that draws the legend, if any."""
    if color == BY_GROUP:
        facets = current.read(read_communities)
        legend = partial(graph_colors.draw_community_legend, facets)
        return graph_colors.color_by_community(picture, facets), legend

    if model is not None and color == BY_ACCURACY:
        accuracy = model_accuracy.accuracy(current, model, graph_colors.cliques_of(picture))
        # None if it cannot be read, which the page then says.
        if accuracy is not None:
            legend = partial(graph_colors.draw_accuracy_legend, accuracy)
            return graph_colors.color_by_accuracy(picture, accuracy), legend
    return picture, None


def _legend(axis: Axis, overview: Overview) -> None:
    """Draw the meaning of places and sizes in the graph."""
    hidden = overview.hidden_concepts
    rarer = unless_empty("{:,} rarer concepts are not drawn. ", hidden)

    st.caption(
        f"Left: more often in images of **{escape(axis.left_name)}**; right: of "
        f"**{escape(axis.right_name)}**, by the difference of the two rates divided by their sum. "
        f"Larger: more images. {rarer}Click a concept to filter the table, more with Shift; hover "
        "over one for its strongest combinations."
    )
