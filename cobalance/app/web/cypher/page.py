"""Page Cypher: saved queries as forms, and read-only queries of your own."""

import time

import pandas as pd
import streamlit as st

from cobalance.app.web.components import mine_button
from cobalance.app.web.cypher import query_form
from cobalance.app.web.cypher.own import ASK, OWN, SAVED, edit_copy, mistake_of, own_query
from cobalance.app.web.cypher.query_form import MOST_ROWS
from cobalance.app.web.cypher.result import show_result
from cobalance.app.web.state import background, session
from cobalance.app.web.state.background import Run
from cobalance.app.web.state.refreshing import refreshing, rerun_page
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.controls import choose_view
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.tables import draw_table
from cobalance.app.web.widgets.theme import shorten
from cobalance.graph.database.query import REQUIRED
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.console_query import ConsoleQuery, search_saved

REFRESH_S = 0.5

_SEEN = "_cypher_seen"


def page() -> None:
    """Draw the page."""
    current = session.current() if st.session_state.get(session.DATASET) else None
    mode = choose_view("Ask", (SAVED, OWN), ASK)
    query, submitted = saved_query(current) if mode == SAVED else own_query(current)
    first = _SEEN not in st.session_state
    st.session_state[_SEEN] = True
    if query is None:
        return
    run = st.session_state.get(background.RUN)
    is_new = run is None or run.query != query
    if submitted or (is_new and query.is_saved and (first or _is_quick(query))):
        run = background.start(session.store(), query)
        st.session_state[background.RUN] = run
        if mistake_of(run) is not None:
            rerun_page()  # the editor, which is drawn by now, underlines it
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


_SHOWN, _LIST, _SEARCH = "cypher_show", "_cypher_list", "cypher_search"
_QUICK_FIRST = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))


def saved_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
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
        placeholder="Choose a saved query by its name, or search below",
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
            on_click=edit_copy,
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
    draw_table(
        pd.DataFrame(
            [(name, shorten(CATALOGUE[name].purpose, 145)) for name in names],
            columns=["query", "answers"],
        ),
        520,
        {
            "query": st.column_config.TextColumn("Query", width=230),
            "answers": st.column_config.TextColumn("What it answers", width=850),
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
