"""Read-only queries of one's own: the fields, and the graph's schema beside them."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from cobalance.app.web.browser.cypher_editor import Mistake, cypher_editor, plain_lines
from cobalance.app.web.cypher import query_form
from cobalance.app.web.cypher.query_form import MOST_ROWS
from cobalance.app.web.server.streamlit_internals import came_back
from cobalance.app.web.state import background, session
from cobalance.app.web.state.background import Run
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import number_in_url, write
from cobalance.app.web.widgets.messages import show_error
from cobalance.graph.console.run import EXAMPLE
from cobalance.graph.database import schema
from cobalance.graph.errors import OptionError, QueryTextError
from cobalance.graph.queries.console_query import ConsoleQuery

ASK = "cypher_ask"  # the key of the choice between a saved query and one's own
SAVED, OWN = "Saved query", "Your own"
TEXT = "cypher_text"  # the query, in the session and in the link

_JSON, _ROWS = "cypher_parameters", "cypher_rows"


def edit_copy(text: str, given: Mapping[str, Any]) -> None:
    """Fill the fields of a free query with a saved one and its parameters."""
    rest = {name: value for name, value in given.items() if name != session.DATASET}
    st.session_state[ASK] = OWN
    st.session_state[TEXT] = text
    st.session_state[_JSON] = json.dumps(rest, ensure_ascii=False) if rest else ""


def own_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the fields of a free query; return it, and whether to run it now."""
    _restore()
    left, right = st.columns([3, 2])
    with st.container():
        with left.form("_cypher_own_form"):
            text = cypher_editor(
                st.session_state[TEXT],
                key="_cypher_editor",
                label="Cypher that only reads",
                parameters=_names(current),
                mistake=mistake_of(st.session_state.get(background.RUN)),
            )
            st.session_state[TEXT] = text
            binding = query_form.binding_of(TEXT, _JSON)
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
                "Run", type="primary", key="_cypher_submit", help="Ctrl+Enter in the editor"
            )
        with right:
            st.code(schema_in_cypher(), language="cypher", wrap_lines=True, height=390)
            st.caption("Every node has its `dataset`, too.")
    write(TEXT, [text] if binding is not None and text != EXAMPLE else [])
    query_form.note_if_not_in_link(binding)
    try:
        parameters = read_parameters(given or "")
    except OptionError as error:
        show_error(error)
        return None, False
    if current is not None:
        parameters = {session.DATASET: current.name, **parameters}
    if not text.strip():
        return None, False
    query = ConsoleQuery(text, is_saved=False, given=parameters, most_rows=rows, timeout_s=seconds)
    return query, submitted


def _restore() -> None:
    """Take the text of a link, or that of the browser's Back; else keep the session's."""
    if TEXT not in st.session_state or came_back():
        st.session_state[TEXT] = plain_lines(st.query_params.get(TEXT, EXAMPLE))


def _names(current: CurrentDataset | None) -> list[str]:
    """The names of the parameters that are given, to complete."""
    try:
        given = read_parameters(st.session_state.get(_JSON) or "")
    except OptionError:
        given = {}
    return sorted({*given, *([] if current is None else [session.DATASET])})


def mistake_of(run: Run | None) -> Mistake | None:
    """Position of the error in a query of one's own; None without one."""
    if run is None or run.query.is_saved or not run.outcome.done():
        return None
    error = run.outcome.exception()
    if not isinstance(error, QueryTextError) or error.offset is None:
        return None
    return Mistake(run.query.text, error.offset, str(error).splitlines()[0])


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
