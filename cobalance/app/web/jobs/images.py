"""Choose how to look at a job's images: side by side, in review, or all of them."""

import streamlit as st

from cobalance.app.web.jobs import candidates, review, twins
from cobalance.app.web.jobs.fixed import edited
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.widgets.controls import choose_view
from cobalance.graph.jobs.status import Job

SIDE_BY_SIDE, REVIEW, ALL = "Images side by side", "Review by keyboard", "All candidates"
_VIEW = "images_view"


def is_review(job: Job) -> bool:
    """Whether edited images are reviewed, for which the rest of the page makes room."""
    chosen = st.session_state.get(_VIEW, st.query_params.get(_VIEW))
    return chosen == REVIEW and may_edit() and edited(job) > 0


def show(job: Job) -> None:
    """Draw a job's images in the way that is chosen."""
    if not edited(job):
        st.subheader("Candidates", anchor=False)
        candidates.show(job)
        return
    st.subheader("Edited images", anchor=False)
    views = (SIDE_BY_SIDE, REVIEW, ALL) if may_edit() else (SIDE_BY_SIDE, ALL)
    view = choose_view("Way to look at them", views, _VIEW)
    {SIDE_BY_SIDE: twins, REVIEW: review, ALL: candidates}[view].show(job)
