"""Page Cypher: saved queries as forms, and read-only queries of your own."""

import time

import streamlit as st

from cobalance.app.web.cypher.own import ASK, OWN, SAVED, mistake_of, own_query
from cobalance.app.web.cypher.result import show_result
from cobalance.app.web.cypher.saved import saved_query
from cobalance.app.web.state import background, session
from cobalance.app.web.state.background import Run
from cobalance.app.web.state.refreshing import refreshing, rerun_page
from cobalance.app.web.widgets.controls import choose_view
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.console_query import ConsoleQuery

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
