"""Page Audit: choose an audit, say who you are, and check one image after the other."""

import streamlit as st

from cobalance.app.web.components.person import person_of
from cobalance.app.web.panel import audit_task as task
from cobalance.app.web.state import session
from cobalance.app.web.state.refreshing import refreshing
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.messages import empty_state
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.audits.reading import Audit, audits_of_dataset
from cobalance.graph.database.store import GraphStore

AUDIT = "audit"  # the query parameter
_WIDTH_PX = 900


def page() -> None:
    """Draw the page."""
    current = session.current()
    found = audits_of_dataset(current.store, current.name)
    if not found:
        _say_how_to_start(current.store, current.name)
        return
    with st.container(width=_WIDTH_PX):
        with st.container(horizontal=True):
            audit = _choose(found)
            person = person_of(audit.people, "audit")
        if person is not None:
            refreshing(None)(task.show)(audit.id, person)


def _say_how_to_start(store: GraphStore, dataset: str) -> None:
    """What to run before there is something to check: for the newest run, where there is one."""
    runs = [run.id for run in list_runs(store, dataset) if run.has_labels]
    first = (
        ""
        if runs
        else "Have a model label images first, on the page Annotate or by `cobalance annotate "
        "label DATASET --with owlv2`. "
    )
    empty_state(
        "No audit yet",
        f"{first}Draw one from a run that labels images: `cobalance annotate audit "
        f"{runs[0] if runs else 'RUN'} --people ann,bob`. It prints the address to send to them.",
    )


def _choose(found: list[Audit]) -> Audit:
    """The audit of the address, else the newest; a choice is drawn where there are several."""
    by_id = {audit.id: audit for audit in found}
    if len(found) == 1:
        return found[0]
    chosen: str = st.selectbox(
        "Audit", list(by_id), **in_url(AUDIT, by_id), required=True, width=420
    )
    return by_id[chosen]
