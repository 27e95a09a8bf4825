"""Page Cypher: saved queries as forms, and read-only queries of your own."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app.services.console import ConsoleQuery
from app.views.components import mine_button
from app.views.cypher import query_form
from app.views.cypher.query_form import MOST_ROWS
from app.views.cypher.result import show_result
from app.views.state import background, session
from app.views.state.background import Run
from app.views.state.refreshing import refreshing, rerun_page
from app.views.state.session import CurrentDataset
from app.views.state.url import in_url, number_in_url
from app.views.widgets.controls import choose_view
from app.views.widgets.messages import empty_state, show_error
from app.views.widgets.theme import shorten
from graph.console.run import EXAMPLE
from graph.database import schema
from graph.database.query import REQUIRED
from graph.errors import OptionError
from graph.queries.catalogue import CATALOGUE

SAVED, OWN = "Saved query", "Your own"

REFRESH_S = 0.5

_ASK, _TEXT, _JSON = "cypher_ask", "cypher_text", "cypher_parameters"
_ROWS, _SHOWN = "cypher_rows", "cypher_show"
_SEEN, _LIST = "_cypher_seen", "_cypher_list"
_QUICK_FIRST = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))


def page() -> None:
    """Draw the page."""
    current = session.current() if st.session_state.get(session.DATASET) else None
    mode = choose_view("Ask", (SAVED, OWN), _ASK)
    query, submitted = _saved(current) if mode == SAVED else _own(current)
    first = _SEEN not in st.session_state
    st.session_state[_SEEN] = True
    if query is None:
        return
    run = st.session_state.get(background.RUN)
    is_new = run is None or run.query != query
    if submitted or (is_new and query.is_saved and (first or _is_quick(query))):
        run = background.start(session.store(), query)
        st.session_state[background.RUN] = run
    if run is None or run.query != query:
        st.caption("Press Run for the result.")
    elif run.outcome.done():
        show_result(current, run)
    else:
        _wait(run)


def _is_quick(query: ConsoleQuery) -> bool:
    """Whether a query runs as soon as it is chosen: a free one never does.

    Any page of the web can link to this one, with a query in the address.
    """
    return query.is_saved and not CATALOGUE[query.text].scans_images


def _saved(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the choice and form of a saved query; return it, and whether to run it now."""
    if current is None:
        empty_state(
            "No dataset yet",
            "The saved queries are about a dataset. Load one on the **Datasets** page, or ask the "
            f"graph a query of your own: choose **{OWN}** above.",
        )
        return None, False
    name = st.selectbox(
        "Saved query",
        _QUICK_FIRST,
        index=None,
        **in_url(query_form.NAME),
        placeholder=f"Search {len(_QUICK_FIRST)} saved queries",
        label_visibility="collapsed",
    )
    if name is None:
        _list_saved()
        return None, False
    query = CATALOGUE[name]
    st.markdown(query.purpose)
    if query.reads_cliques and not current.is_mined:
        mine_button.offer(current)
        return None, False
    with st.form("_cypher_form"):
        given, seconds = query_form.fields(current, query)
        submitted = st.form_submit_button("Run", type="primary", key="_cypher_submit")
    with st.expander("The query in Cypher", **in_url(_SHOWN), on_change="rerun"):
        st.code(query.text, language="cypher", wrap_lines=True)
        st.button(
            "Edit a copy",
            icon=":material/edit:",
            key="_cypher_copy",
            on_click=_edit_copy,
            args=(query.text, given),
        )
    missing = [
        parameter.purpose
        for key, parameter in query.parameters.items()
        if parameter.default is REQUIRED and not given[key]
    ]
    if missing:
        st.info(f"Choose {' and '.join(missing)}, then press Run.", icon=":material/info:")
        return None, False
    rows = int(given.get("limit") or MOST_ROWS)
    return ConsoleQuery(
        name, is_saved=True, given=given, most_rows=rows, timeout_s=seconds
    ), submitted


def _list_saved() -> None:
    st.dataframe(
        pd.DataFrame(
            [(name, shorten(CATALOGUE[name].purpose, 145)) for name in _QUICK_FIRST],
            columns=["query", "answers"],
        ),
        key=_LIST,
        hide_index=True,
        height=560,
        on_select=_choose,
        selection_mode="single-row",
        column_config={
            "query": st.column_config.TextColumn("Query", width=230),
            "answers": st.column_config.TextColumn("What it answers", width=850),
        },
        alt="Saved queries",
    )
    st.caption("Tick a row, or search above.")


def _choose() -> None:
    """Take the ticked row of the list as the saved query."""
    rows = st.session_state[_LIST].selection.rows
    if rows:
        st.session_state[query_form.NAME] = _QUICK_FIRST[rows[0]]


def _edit_copy(text: str, given: Mapping[str, Any]) -> None:
    """Fill the fields of a free query with a saved one and its parameters."""
    rest = {name: value for name, value in given.items() if name != session.DATASET}
    st.session_state[_ASK] = OWN
    st.session_state[_TEXT] = text
    st.session_state[_JSON] = json.dumps(rest, ensure_ascii=False) if rest else ""


def _own(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
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


@refreshing(REFRESH_S)
def _wait(run: Run) -> None:
    """Draw the progress of a running query until it ends."""
    if run.outcome.done():
        rerun_page()
        return
    passed, limit = time.monotonic() - run.started, run.query.timeout_s
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            min(passed / limit, 1.0), f"The query is running: {passed:.0f} of at most {limit:g} s"
        )
        st.button("Stop waiting", key="_cypher_stop", on_click=background.forget)
