"""Page Cypher: saved queries as forms, and read-only queries of your own."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.browser.cypher_editor import Mistake, cypher_editor, plain_lines
from cobalance.app.web.components import mine_button
from cobalance.app.web.page.cypher import query_form
from cobalance.app.web.page.cypher.query_form import MOST_ROWS
from cobalance.app.web.page.cypher.result import RUN, Run, forget_run, show_result, start_run
from cobalance.app.web.server.streamlit_internals import came_back
from cobalance.app.web.state import (
    CurrentDataset,
    in_url,
    number_in_url,
    rerun_page,
    session,
    write,
)
from cobalance.app.web.widgets import (
    Page,
    choose_one,
    choose_view,
    draw_table,
    empty_state,
    shorten,
    show_error,
    text_column,
    unless_empty,
)
from cobalance.base import OptionError, QueryTextError
from cobalance.graph import CATALOGUE, EXAMPLE, REQUIRED, ConsoleQuery, search_saved
from cobalance.graph.database import schema

REFRESH_S = 0.5
# The key of the choice between a saved query and one's own.
ASK = "cypher_ask"
SAVED, OWN = "Saved query", "Your own"
# The key of the query, in the session and in the link.
TEXT = "cypher_text"
_JSON, _ROWS = "cypher_parameters", "cypher_rows"
_SEEN = "_cypher_seen"
_SHOWN, _LIST, _SEARCH = "cypher_show", "_cypher_list", "cypher_search"
_QUICK_FIRST = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))


def page() -> None:
    """Draw the page."""
    current = session.current() if st.session_state.get(session.DATASET) else None
    mode = choose_view("Ask", (SAVED, OWN), ASK)
    query, submitted = saved_query(current) if mode == SAVED else own_query(current)
    is_first = _SEEN not in st.session_state
    st.session_state[_SEEN] = True
    if query is None:
        return

    # A link runs a saved query at once, even one that reads all images.
    run = st.session_state.get(RUN)
    is_new = run is None or run.query != query
    if submitted or (is_new and query.is_saved and (is_first or _is_quick(query))):
        run = start_run(session.store(), query)
        st.session_state[RUN] = run
        if mistake_of(run) is not None:
            # The editor is drawn by now, and underlines the mistake in the next run.
            rerun_page()

    if run is None or run.query != query:
        st.caption("Press Run for the result.")
    elif run.outcome.done():
        show_result(current, run)
    else:
        _wait(run)


PAGE = Page("Cypher", "cypher", ":material/terminal:", page, needs_dataset=False)


def _is_quick(query: ConsoleQuery) -> bool:
    """Whether a query runs as soon as it is chosen: a free one never does.

    Any page of the web can link to this one, with a query in the URL.
    """
    return query.is_saved and not CATALOGUE[query.text].scans_images


@st.fragment(run_every=REFRESH_S)
def _wait(run: Run) -> None:
    """Draw the progress of a running query until it ends."""
    if run.outcome.done():
        rerun_page()
        return
    passed_s, limit_s = time.monotonic() - run.started, run.query.timeout_s
    text = f"The query is running: {passed_s:.0f} of at most {limit_s:g} s"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(passed_s / limit_s, 1.0), text)
        st.button("Stop waiting", key="_cypher_stop", on_click=forget_run)


def saved_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the choice and form of a saved query; return it, and whether to run it now."""
    if current is None:
        empty_state(
            "No dataset yet",
            "The saved queries are about a dataset. Load one on the **Data** page, or ask the "
            f"graph a query of your own: choose **{OWN}** above.",
        )
        return None, False
    name = choose_one(
        "Saved query",
        _QUICK_FIRST,
        query_form.NAME,
        "Choose a saved query by its name, or search below",
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
        values, timeout_s = query_form.fields(current, query)
        submitted = st.form_submit_button("Run", type="primary", key="_cypher_submit")
    with st.expander("The query in Cypher", **in_url(_SHOWN), on_change="rerun"):
        st.code(query.text, language="cypher", wrap_lines=True)
        st.button(
            "Edit a copy",
            icon=":material/edit:",
            key="_cypher_copy",
            on_click=edit_copy,
            args=(query.text, values),
        )

    missing = [
        parameter.purpose
        for key, parameter in query.parameters.items()
        if parameter.default is REQUIRED and not values[key]
    ]
    if missing:
        st.info(f"Choose {' and '.join(missing)}, then press Run.", icon=":material/info:")
        return None, False
    most_rows = int(values.get("limit") or MOST_ROWS)
    run_query = ConsoleQuery(
        name, is_saved=True, given=values, most_rows=most_rows, timeout_s=timeout_s
    )
    return run_query, submitted


def _list_saved() -> None:
    """Draw the search, and the saved queries that it finds."""
    words = st.text_input(
        "Search names, descriptions and Cypher",
        **in_url(_SEARCH),
        icon=":material/search:",
        placeholder="gap class",
        max_chars=200,
    )
    names = search_saved(words or "")
    if not names:
        st.caption("No saved query has all of these words. Leave some out.")
        return

    purposes = [shorten(CATALOGUE[name].purpose, 145) for name in names]
    draw_table(
        pd.DataFrame({"query": names, "answers": purposes}),
        520,
        {
            "query": text_column("Query", width=230),
            "answers": text_column("What it answers", width=850),
        },
        key=_LIST,
        on_select=_choose,
        selection_mode="single-row",
        alt="Saved queries",
    )
    st.caption(f"{len(names)} of {len(CATALOGUE)} saved queries. Tick a row.")


def _choose() -> None:
    """Take the ticked row of the list as the saved query."""
    rows = st.session_state[_LIST].selection.rows
    if rows:
        names = search_saved(st.session_state.get(_SEARCH) or "")
        st.session_state[query_form.NAME] = names[rows[0]]


def edit_copy(text: str, values: Mapping[str, Any]) -> None:
    """Fill the fields of a free query with a saved one and its parameters."""
    # The dataset is the chosen one without being named.
    rest = {name: value for name, value in values.items() if name != session.DATASET}
    st.session_state[ASK] = OWN
    st.session_state[TEXT] = text
    st.session_state[_JSON] = json.dumps(rest, ensure_ascii=False) if rest else ""


def own_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the fields of a free query; return it, and whether to run it now."""
    # On a link, or after the browser's Back, the URL has the text.
    if TEXT not in st.session_state or came_back():
        st.session_state[TEXT] = plain_lines(st.query_params.get(TEXT, EXAMPLE))

    form, side = st.columns([3, 2])
    with st.container():
        with form.form("_cypher_own_form"):
            text = cypher_editor(
                st.session_state[TEXT],
                key="_cypher_editor",
                label="Cypher that only reads",
                parameters=_names(current),
                mistake=mistake_of(st.session_state.get(RUN)),
            )
            st.session_state[TEXT] = text
            binding = query_form.binding_of(TEXT, _JSON)
            json_text = st.text_input(
                "Parameters as JSON",
                key=_JSON,
                bind=binding,
                persist_state="session",
                placeholder='{"concept": "cow"}',
                help="`$dataset` is the dataset that is chosen above, unless it is given here.",
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                timeout_s = query_form.seconds_field()
                rows = st.number_input("Maximum rows", 1, MOST_ROWS, 1000, **number_in_url(_ROWS))
            submitted = st.form_submit_button(
                "Run", type="primary", key="_cypher_submit", help="Ctrl+Enter in the editor"
            )
        with side:
            st.code(schema_in_cypher(), language="cypher", wrap_lines=True, height=390)
            st.caption("Every node has its `dataset`, too.")

    in_link = binding is not None and text != EXAMPLE
    write(TEXT, [text] if in_link else [])
    query_form.note_if_not_in_link(binding)
    try:
        parameters = read_parameters(json_text or "")
    except OptionError as error:
        show_error(error)
        return None, False
    if not text.strip():
        return None, False

    # A dataset among the parameters goes before the chosen one.
    if current is not None:
        parameters = {session.DATASET: current.name, **parameters}
    query = ConsoleQuery(
        text, is_saved=False, given=parameters, most_rows=rows, timeout_s=timeout_s
    )
    return query, submitted


def _names(current: CurrentDataset | None) -> list[str]:
    """The names of the parameters that are given, to complete."""
    try:
        names = set(read_parameters(st.session_state.get(_JSON) or ""))
    except OptionError:
        names = set()
    if current is not None:
        names.add(session.DATASET)
    return sorted(names)


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
        parameters = json.loads(text)
    except RecursionError as error:
        raise OptionError(f"The parameters are nested too deeply. {remedy}") from error
    except ValueError as error:
        raise OptionError(f"The parameters are not JSON: {error}. {remedy}") from error

    if not isinstance(parameters, dict):
        raise OptionError(f"The parameters are JSON, but not an object of names. {remedy}")
    return parameters


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
    return unless_empty(" {{{}}}", listed)
