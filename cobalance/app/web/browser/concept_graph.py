"""The concept graph as a Streamlit component: draw it, select in it, expand its nodes.

Positions, sizes and skews come from Python; frontend/ is the browser's part, and build/ that part
as one file, which needs no other host.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from cobalance.app.web.browser.browser_part import Exchange, draw_part, no_callback
from cobalance.workflows import GraphEdge, GraphNode, GraphPicture, GraphStep

Ids = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphSelection:
    """A person's selection in the graph, in the picture's order, and the step that is shown, by id.

    An edge that is clicked selects its two ends; `expanded` is the node that was double-clicked in
    this very rerun.
    """

    nodes: tuple[str, ...] = ()
    expanded: str | None = None
    step: str | None = None


def concept_graph(
    picture: GraphPicture | Sequence[GraphStep],
    *,
    key: str,
    highlighted: Sequence[Sequence[str]] = (),
    cliques: Sequence[Sequence[str]] = (),
    groups: Sequence[Sequence[str]] = (),
    selected: Sequence[str] = (),
    step: str | None = None,
    height_px: int = 560,
    label: str = "Concept graph",
) -> GraphSelection:
    """Draw the graph; return its selection.

    A new `picture` changes only the elements that differ; a new `highlighted` or `selected` moves
    nothing. The view fits the graph until a person pans or zooms, and then stays as long as any
    node of the picture before is left.

    Parameters
    ----------
    picture : GraphPicture or sequence of GraphStep
        What to draw. Steps have a control below the graph, between which its nodes move; all are
        sent at once.
    highlighted : sequence of sequences of str
        Cliques. Their nodes and the edges between them stand out, those edges included that the
        picture lacks, and each has an outline; the rest is dimmed. Ids that are not in the picture
        are left out.
    cliques : sequence of sequences of str
        Further cliques, the most telling first. The first of those that contain what is pointed at
        are outlined meanwhile.
    groups : sequence of sequences of str
        Nodes that are outlined together, such as a community; nothing is dimmed for it.
    selected : sequence of str
        The initial selection, and a new one whenever it differs from that of the run before.
        Passing back the returned selection, for instance through the URL, keeps what a person
        selects meanwhile. Ids that are not in the picture are left out.
    step : str or None
        The step at first, and a new one whenever it is not what was returned in the run
        before: pass that back. By default, and for an unknown one, the first.
    height_px : int
        Height of the component; its width is that of the column it is in.
    label : str
        Its name for screen readers.
    """
    stored = st.session_state.get(key) or {}
    first, story = _first_and_steps(picture)
    nodes = [node.id for node in first.nodes]
    steps = [graph_step.id for graph_step in story]

    # The selection and the step are two exchanges with the browser, each with requests of its own.
    memory = f"{key}.exchange"
    selection_before, step_before = st.session_state.get(memory) or (None, None)
    selection = next_exchange(selection_before, tuple(selected), stored.get("selected"), nodes)
    first_step = (step,) if step in steps else tuple(steps[:1])
    shown_step = next_exchange(step_before, first_step, stored.get("step"), steps)

    outlines = {"highlighted": highlighted, "cliques": cliques, "groups": groups}
    result = draw_part(
        "concept_graph",
        key,
        payload(picture, selection, shown_step, height_px=height_px, label=label, **outlines),
        on_selected_change=no_callback,
        on_expanded_change=no_callback,
        on_step_change=no_callback,
    )

    # The page passes back the step that was returned here, which is then no new request.
    wanted_next = replace(shown_step, wanted=shown_step.effective)
    st.session_state[memory] = selection, wanted_next
    expanded = result.get("expanded")
    return GraphSelection(
        nodes=selection.effective,
        expanded=expanded if expanded in nodes else None,
        step=next(iter(shown_step.effective), None),
    )


def next_exchange(
    before: Exchange[Ids] | None, wanted: Ids, report: object, known: Collection[str]
) -> Exchange[Ids]:
    """Decide the selection of this run.

    Parameters
    ----------
    wanted : tuple of str
        What the page passes now: nodes, or one step.
    report : object
        The browser's last report: ``{"nodes": [...], "request": 3}``, or None. Not trusted.
    known : collection of str
        The ids of the picture's nodes or of the steps, in their order.
    """
    request = before.request if before else 0
    # What the person chose, passed back, is no new request.
    if before and wanted != before.wanted and set(wanted) != set(before.effective):
        request += 1

    chosen: Collection[object] = wanted
    if isinstance(report, dict) and report.get("request") == request:
        reported = report.get("nodes")
        if isinstance(reported, list):
            chosen = reported
    effective = tuple(id_ for id_ in known if id_ in chosen)
    return Exchange(request, wanted, effective)


def payload(
    picture: GraphPicture | Sequence[GraphStep],
    exchange: Exchange[Ids],
    step: Exchange[Ids],
    *,
    height_px: int,
    label: str,
    highlighted: Sequence[Sequence[str]],
    cliques: Sequence[Sequence[str]],
    groups: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """The component's data for the browser, as JSON values.

    Numbers are rounded to visible differences: the same picture, computed again, is equal. Of
    several steps, ``nodes`` and ``edges`` are those of its first step.
    """
    drawn, steps = _first_and_steps(picture)
    node_ids = {node.id for node in drawn.nodes}
    nodes = [
        {
            "id": node.id,
            "label": node.label,
            "kind": node.kind,
            "y": round(float(node.y_px), 1),
            "color": node.color,
            **_of_step(node),
        }
        for node in drawn.nodes
    ]
    edges = [
        {"source": edge.source, "target": edge.target, "color": edge.color, **_of_step(edge)}
        for edge in drawn.edges
    ]

    # An outline around a part of a clique would be wrong, and one around a node says nothing.
    whole_cliques = filter(node_ids.issuperset, cliques)
    return {
        "nodes": nodes,
        "edges": edges,
        "steps": list(map(_step_data, steps)),
        "step": next(iter(step.effective), ""),
        "step_request": step.request,
        "axis": drawn.axis_px and [round(x, 1) for x in drawn.axis_px],
        "sizes": [[round(size, 1), text] for size, text in drawn.sizes],
        "left_color": drawn.left_color,
        "right_color": drawn.right_color,
        "highlighted": list(map(list, highlighted)),
        "cliques": [list(clique) for clique in whole_cliques if len(clique) > 1],
        "groups": [list(filter(node_ids.__contains__, group)) for group in groups],
        "selected": list(exchange.effective),
        "request": exchange.request,
        "height_px": height_px,
        "label": label,
    }


def _step_data(step: GraphStep) -> dict[str, Any]:
    """A step as lists without names: there may be many of them."""
    picture = step.picture
    return {
        "id": step.id,
        "name": step.name,
        "nodes": [[*_of_step(node).values(), node.absent] for node in picture.nodes],
        "edges": [[*_of_step(edge).values()] for edge in picture.edges],
    }


def _first_and_steps(
    picture: GraphPicture | Sequence[GraphStep],
) -> tuple[GraphPicture, Sequence[GraphStep]]:
    if isinstance(picture, GraphPicture):
        return picture, ()
    return picture[0].picture, picture


def _of_step(element: GraphNode | GraphEdge) -> dict[str, Any]:
    """Values that differ between the steps of a story, in the order that the browser reads."""
    if isinstance(element, GraphNode):
        values = {"x": round(float(element.x_px), 1), "size": round(float(element.size_px), 1)}
    else:
        values = {"width": round(float(element.width_px), 2)}
    return values | {"skew": round(float(element.skew), 3), "description": element.description}
