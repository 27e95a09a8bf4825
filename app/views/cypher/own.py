"""Read-only queries of one's own: the fields, and the graph's schema beside them."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.services.console import ConsoleQuery
from app.views.cypher import query_form
from app.views.cypher.query_form import MOST_ROWS
from app.views.state import session
from app.views.state.session import CurrentDataset
from app.views.state.url import number_in_url
from app.views.widgets.messages import show_error
from graph.console.run import EXAMPLE
from graph.database import schema
from graph.errors import OptionError

ASK = "cypher_ask"  # the key of the choice between a saved query and one's own
SAVED, OWN = "Saved query", "Your own"

_TEXT, _JSON, _ROWS = "cypher_text", "cypher_parameters", "cypher_rows"


def edit_copy(text: str, given: Mapping[str, Any]) -> None:
    """Fill the fields of a free query with a saved one and its parameters."""
    rest = {name: value for name, value in given.items() if name != session.DATASET}
    st.session_state[ASK] = OWN
    st.session_state[_TEXT] = text
    st.session_state[_JSON] = json.dumps(rest, ensure_ascii=False) if rest else ""


def own_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the fields of a free query; return it, and whether to run it now."""
    binding = query_form.binding_of(_TEXT, _JSON)
    left, right = st.columns([3, 2])
    with st.container():
        with left.form("_cypher_own_form"):
            text = st.text_area(
                "Cypher that only reads",
                EXAMPLE,
                height=180,
                key=_TEXT,
                bind=binding,
                persist_state="session",
            )
            given = st.text_input(
                "Parameters as JSON",
                key=_JSON,
                bind=binding,
                persist_state="session",
                placeholder='{"concept": "cow"}',
                help="`$dataset` is the dataset that is chosen above, unless it is given here.",
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                seconds = query_form.seconds_field()
                rows = st.number_input("Maximum rows", 1, MOST_ROWS, 1000, **number_in_url(_ROWS))
            submitted = st.form_submit_button(
                "Run", type="primary", key="_cypher_submit", help="Ctrl+Enter in a field"
            )
        with right:
            st.code(schema_in_cypher(), language="cypher", wrap_lines=True, height=390)
            st.caption("Every node has its `dataset`, too.")
    query_form.note_if_not_in_link(binding)
    try:
        parameters = read_parameters(given or "")
    except OptionError as error:
        show_error(error)
        return None, False
    if current is not None:
        parameters = {session.DATASET: current.name, **parameters}
    if not (text or "").strip():
        return None, False
    query = ConsoleQuery(
        text or "", is_saved=False, given=parameters, most_rows=rows, timeout_s=seconds
    )
    return query, submitted


def read_parameters(text: str) -> dict[str, Any]:
    """Parse the parameters of a free query.

    Raises
    ------
    OptionError
        They are not a JSON object.

    Examples
    --------
    >>> read_parameters('{"concepts": ["cow", "alley"]}'), read_parameters(" ")
    ({'concepts': ['cow', 'alley']}, {})
    """
    if not text.strip():
        return {}
    remedy = 'Write them as {"concept": "cow", "limit": 10}.'
    try:
        given = json.loads(text)
    except RecursionError as error:
        raise OptionError(f"The parameters are nested too deeply. {remedy}") from error
    except ValueError as error:
        raise OptionError(f"The parameters are not JSON: {error}. {remedy}") from error
    if not isinstance(given, dict):
        raise OptionError(f"The parameters are JSON, but not an object of names. {remedy}")
    return given


def schema_in_cypher() -> str:
    r"""The kinds of node and relationship with their properties, as patterns.

    Examples
    --------
    >>> print("\n".join(schema_in_cypher().splitlines()[:2]))
    (:Class {name, without_concepts, images})
    (:Concept {name, images})
    """
    nodes = [
        f"(:{node.label}{_properties(node.key.name, *node.property_names)})"
        for node in schema.NODES
    ]
    edges = [
        f"(:{edge.start.label})-[:{edge.type}{_properties(*edge.property_names)}]->(:{edge.end.label})"
        for edge in schema.EDGES
    ]
    return "\n".join([*nodes, *edges])


def _properties(*names: str) -> str:
    listed = ", ".join(name for name in names if name != "digest")
    return f" {{{listed}}}" if listed else ""
