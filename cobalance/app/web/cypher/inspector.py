"""The inspector of a node: its labels, properties and relationships, and where it is shown else."""

import json
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.components.graph.centre import make_centre
from cobalance.app.web.cypher.answers import HIDDEN
from cobalance.app.web.cypher.pictures import FoundNode
from cobalance.app.web.state import session, url
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.tables import count_column, draw_table
from cobalance.app.web.widgets.theme import bold, shorten
from cobalance.graph.database import schema
from cobalance.graph.database.declarations import DATASET
from cobalance.graph.queries.nodes import NodeDetails, read_class, read_concept, read_node

_KEYS = frozenset(("key", "id"))  # told by the name, or only to programs


def in_link(node: FoundNode) -> str:
    """How a link names a node.

    Examples
    --------
    >>> in_link(FoundNode("cow", "concept", "Concept"))
    'Concept cow'
    """
    return f"{node.label} {node.name}".strip()[:200]


def show_node(current: CurrentDataset | None, node: FoundNode) -> None:
    """Draw what the graph knows of a node."""
    details = _read(current, node)
    if details is None:
        st.caption(f"The graph has no {bold(node.name)} any more. Run the query again.")
        return
    st.markdown(f"#### {bold(shorten(details.name, 80))}\n{' · '.join(details.labels)}")
    whose = details.properties.get(DATASET)
    if current is not None and whose == current.name:
        _ways_on(current, details)
    elif isinstance(whose, str):
        st.caption(f"Of the dataset {bold(whose)}.")
    declared = [
        each.name
        for kind in schema.ALL_NODES
        if kind.label in details.labels
        for each in (kind.key, *kind.properties)
    ]
    properties = {name: details.properties[name] for name in declared if name in details.properties}
    rows = [
        (name, _in_words(value))
        for name, value in {**properties, **details.properties}.items()
        if name not in HIDDEN and not (name in _KEYS and isinstance(value, str) and _named(details))
    ]
    draw_table(
        pd.DataFrame(rows, columns=["Property", "Value"]),
        260,
        {"Property": st.column_config.TextColumn(width=150)},
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


def _read(current: CurrentDataset | None, node: FoundNode) -> NodeDetails | None:
    if node.element_id is not None:
        return read_node(session.store(), node.element_id)
    if current is None:
        return None
    read = read_class if node.kind == "class" else read_concept
    return read(current.store, current.name, node.name)


def _named(details: NodeDetails) -> bool:
    """Whether people call a node by something else than its own id."""
    return details.name != details.properties.get("id")


def _ways_on(current: CurrentDataset, details: NodeDetails) -> None:
    """Draw the buttons to the pages that show a node, too."""
    name = details.properties.get("name")
    concepts = details.properties.get("concepts")
    is_class = schema.CLASS.label in details.labels
    is_concept = schema.CONCEPT.label in details.labels
    if is_concept:
        concepts = [name]
    with st.container(horizontal=True):
        if (is_class or is_concept) and st.button("Open in Neighbourhood", key="_cypher_near"):
            make_centre(str(name), "class" if is_class else "concept")
            url.go_to("neighbourhood")
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
    return json.dumps(value, ensure_ascii=False, default=str)
