"""Page Study: choose a study, say who you are, and answer one question after the other."""

import streamlit as st

from cobalance.app.web.components.person import person_of
from cobalance.app.web.panel import study_task as task
from cobalance.app.web.state import session
from cobalance.app.web.state.refreshing import refreshing
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.messages import empty_state
from cobalance.graph.studies.reading import Study, studies_of_dataset

STUDY = "study"  # the query parameter
_WIDTH_PX = 900


def page() -> None:
    """Draw the page."""
    current = session.current()
    found = studies_of_dataset(current.store, current.name)
    if not found:
        empty_state(
            "No study yet",
            "Draw one from a job that edits images: `cobalance evaluate study JOB --people "
            "ann,bob`.",
        )
        return
    with st.container(width=_WIDTH_PX):
        with st.container(horizontal=True):
            study = _choose(found)
            person = person_of(study.people, "study")
        if person is not None:
            refreshing(None)(task.show)(study.id, person)


def _choose(found: list[Study]) -> Study:
    """The study of the address, else the newest; a choice is drawn where there are several."""
    by_id = {study.id: study for study in found}
    if len(found) == 1:
        return found[0]
    chosen: str = st.selectbox(
        "Study",
        list(by_id),
        **in_url(STUDY, by_id),  # which holds what is shown: the id, as the command prints it
        required=True,
        width=420,
    )
    return by_id[chosen]
