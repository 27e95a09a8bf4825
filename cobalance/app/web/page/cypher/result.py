"""Run a query in the background; draw its result: table, graph, downloads, way to a plan."""

import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Thread
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import make_centre
from cobalance.app.web.page.cypher import answers
from cobalance.app.web.page.cypher.answers import HIDDEN
from cobalance.app.web.page.cypher.pictures import (
    MOST_NODES,
    Elements,
    FoundNode,
    elements_in,
    picture_of,
)
from cobalance.app.web.state import CurrentDataset, names_of, session, url
from cobalance.app.web.widgets import (
    bold,
    choose_view,
    count_column,
    download_table,
    draw_table,
    empty_state,
    shorten,
    show_error,
    text_column,
)
from cobalance.base import CobalanceError, QueryRefusedError, StoreUnavailableError, inflect
from cobalance.graph import (
    DATASET,
    ConsoleQuery,
    ConsoleResult,
    GraphStore,
    NodeDetails,
    names_in,
    read_named,
    read_node,
)
from cobalance.graph.database import schema
from cobalance.workflows import json_text

# Enough for most queries; then the page responds again.
FIRST_WAIT_S = 1.0
# The key of the session's last run.
RUN = "_cypher_run"

# Queries of this process, so that nobody can pile them up.
_running = BoundedSemaphore(4)
TABLE, GRAPH = "Table", "Graph"
# The most cliques that a result hands to a plan.
MOST_CLIQUES = 100
_VIEW, _NODE = "cypher_view", "cypher_node"


@dataclass(frozen=True, eq=False)
class Run:
    """A query that was started, and its outcome, which may be pending."""

    query: ConsoleQuery
    outcome: "Future[ConsoleResult]" = field(default_factory=Future)
    started: float = field(default_factory=time.monotonic)
    names: dict[str, str] = field(default_factory=dict)  # of the result's nodes, by element id


def start_run(store: GraphStore, query: ConsoleQuery) -> Run:
    """Start a query in a thread, and wait a little for its result."""
    run = Run(query)

    def work() -> None:
        try:
            result = query.run(store)
            run.names.update(names_in(store, result))
            run.outcome.set_result(result)
        except BaseException as error:  # noqa: BLE001 - the waiting page raises it
            run.outcome.set_exception(error)
        finally:
            _running.release()

    if not _running.acquire(blocking=False):
        run.outcome.set_exception(
            QueryRefusedError(
                "Four queries of this app are still running. Wait until one of them ends, then "
                "press Run again."
            )
        )
        return run

    Thread(target=work, name="console page", daemon=True).start()
    with suppress(TimeoutError):
        run.outcome.exception(timeout=FIRST_WAIT_S)
    return run


def forget_run() -> None:
    """Forget the session's last run; the database ends it at its time limit."""
    st.session_state.pop(RUN, None)


def show_result(current: CurrentDataset | None, run: Run) -> None:
    """Draw the result of a run, or its error."""
    error = run.outcome.exception()
    if isinstance(error, StoreUnavailableError):
        # Forgotten, so that the query runs again once the store is back.
        forget_run()
        raise error
    if isinstance(error, CobalanceError):
        show_error(error)
        return

    result = run.outcome.result()
    frame = answers.as_frame(result, run.names)
    classes = names_of(current, schema.CLASS) if current is not None else []
    concept = run.query.given.get("concept")
    if not isinstance(concept, str):
        concept = None
    elements = elements_in(result, classes, concept, run.names)

    view = TABLE
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{inflect(len(frame), 'rows')}** in {result.elapsed_s:.2f} s")
        if elements:
            view = choose_view("Show as", (TABLE, GRAPH), _VIEW)
        st.space("stretch")
        file = run.query.text if run.query.is_saved else "query"
        download_table(lambda: frame, file, key="_cypher")
        # Cliques of another dataset cannot be planned for here.
        if current is not None and run.query.given.get(session.DATASET) == current.name:
            _to_plan(result)
    if result.truncated:
        st.caption(
            f":material/info: There are more rows than these {len(frame):,}. Ask for more, or "
            "narrow the query."
        )

    if frame.empty:
        empty_state("No rows", "Nothing in the graph matches the query.")
    elif view == GRAPH:
        _graph(current, elements, classes)
    else:
        table, columns = answers.as_table(result, run.names)
        draw_table(table, 560, columns, key="_cypher_table", alt="Rows that the query returned")


def _graph(current: CurrentDataset | None, elements: Elements, classes: list[str]) -> None:
    """Draw the graph of a result, and beside it the node that is chosen."""
    names = [name for name in url.texts(_NODE) if name]
    ids = [id_ for id_, node in elements.nodes.items() if in_link(node) in names]
    graph, side = st.columns([3, 2])
    with graph:
        chosen = concept_graph(
            picture_of(elements, classes),
            key="_cypher_graph",
            selected=ids[:1],
            height_px=560,
            label="Nodes and links that the query returned",
        ).nodes
        n_nodes = len(elements.nodes)
        if n_nodes > MOST_NODES:
            st.caption(f"The first {MOST_NODES} of {n_nodes:,} nodes; the table has all.")

    # The two ends of an edge are chosen with it: the first of them is drawn.
    nodes = [elements.nodes[id_] for id_ in chosen[:1]]
    url.write(_NODE, list(map(in_link, nodes)))
    with side:
        if nodes:
            show_node(current, nodes[0])
        else:
            st.caption("Click a node for its properties and relationships.")


def _to_plan(result: ConsoleResult) -> None:
    """Draw the button that plans for the cliques of a result."""
    cliques = answers.cliques_in(result)
    if not cliques:
        return

    planned = cliques[:MOST_CLIQUES]
    label = f"Use the first {len(planned)} cliques in a plan"
    if len(cliques) == 1:
        label = "Use this clique in a plan"
    elif planned == cliques:
        label = f"Use these {len(cliques)} cliques in a plan"
    if st.button(label, type="primary", key="_cypher_plan"):
        url.select_cliques(planned)
        url.go_to("plan")


# A node's name tells them, or they are for programs.
_KEYS = frozenset(("key", "id"))


def in_link(node: FoundNode) -> str:
    """A node's name in a link.

    Examples
    --------
    >>> in_link(FoundNode("cow", "concept", "Concept"))
    'Concept cow'
    """
    return f"{node.label} {node.name}".strip()[:200]


def show_node(current: CurrentDataset | None, node: FoundNode) -> None:
    """Draw a node's properties and relationships."""
    details = _read(current, node)
    if details is None:
        st.caption(f"The graph has no {bold(node.name)} any more. Run the query again.")
        return

    st.markdown(f"{bold(shorten(details.name, 80))}  \n{' · '.join(details.labels)}")
    dataset = details.properties.get(DATASET)
    if current is not None and dataset == current.name:
        _ways_on(current, details)
    elif isinstance(dataset, str):
        st.caption(f"Of the dataset {bold(dataset)}.")

    draw_table(
        pd.DataFrame(_property_rows(details), columns=["Property", "Value"]),
        260,
        {"Property": text_column(width=150)},
        key="_cypher_properties",
        alt=f"Properties of {details.name}",
    )
    degrees = sorted(details.degrees.items(), key=lambda degree: (-degree[1], degree[0]))
    draw_table(
        pd.DataFrame(degrees, columns=["Relationships", "Number"]),
        180,
        {"Number": count_column(width=100)},
        key="_cypher_degrees",
        alt=f"Relationships of {details.name}",
    )


def _property_rows(details: NodeDetails) -> list[tuple[str, str]]:
    """A node's properties in words: the declared ones in their order, then all others."""
    names = []
    for kind in schema.ALL_NODES:
        if kind.label in details.labels:
            names += [declared.name for declared in (kind.key, *kind.properties)]

    # A node without a name of its own is called by its id, which is then all that there is.
    has_name = details.name != details.properties.get("id")
    rows = []
    for name in dict.fromkeys([*names, *details.properties]):
        value = details.properties.get(name)
        is_key = name in _KEYS and isinstance(value, str) and has_name
        if name in details.properties and name not in HIDDEN and not is_key:
            rows.append((name, _in_words(value)))
    return rows


def _read(current: CurrentDataset | None, node: FoundNode) -> NodeDetails | None:
    if node.element_id is not None:
        return read_node(session.store(), node.element_id)
    if current is None:
        return None
    kind = {"class": schema.CLASS, "concept": schema.CONCEPT}[node.kind]
    return read_named(current.store, kind, current.name, node.name)


def _ways_on(current: CurrentDataset, details: NodeDetails) -> None:
    """Draw the buttons to the pages that show a node, too."""
    is_class = schema.CLASS.label in details.labels
    is_concept = schema.CONCEPT.label in details.labels
    name = details.properties.get("name")
    concepts = details.properties.get("concepts")
    if is_concept:
        concepts = [name]
    with st.container(horizontal=True):
        if (is_class or is_concept) and st.button("Look around it", key="_cypher_near"):
            make_centre(str(name), "class" if is_class else "concept")
            url.go_to("diagnose")
        if concepts and current.is_mined and st.button("Open in Diagnose", key="_cypher_diagnose"):
            url.select_cliques([tuple(sorted(concepts))])
            url.go_to("diagnose")


def _in_words(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " + ".join(value)
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes"
    return json_text(value)
