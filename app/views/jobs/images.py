"""Choose how to look at a job's images: side by side, in review, or one by one."""

import streamlit as st

from app.views.jobs import candidates, review, twins
from app.views.state.access import may_edit
from app.views.widgets.controls import choose_view
from graph.jobs.status import Job

SIDE_BY_SIDE, REVIEW, ONE_BY_ONE = "Images side by side", "Review by keyboard", "One by one"
_VIEW = "images_view"


def is_review(job: Job) -> bool:
    """Whether the images are reviewed, for which the rest of the page makes room."""
    chosen = st.session_state.get(_VIEW, st.query_params.get(_VIEW))
    return chosen == REVIEW and may_edit() and twins.edited(job) > 0


def show(job: Job) -> None:
    """Draw a job's images; of one that edits images in the way that is chosen."""
    if not twins.edited(job):
        candidates.show(job)
        return
    st.subheader("Edited images", anchor=False)
    views = (SIDE_BY_SIDE, REVIEW, ONE_BY_ONE) if may_edit() else (SIDE_BY_SIDE, ONE_BY_ONE)
    view = choose_view("Way to look at them", views, _VIEW)
    if view == ONE_BY_ONE:
        candidates.show(job)
    elif view == REVIEW:
        review.show(job)
    else:
        twins.show(job)
