"""Choose how to look at a job's images: side by side, in review, or one by one."""

import streamlit as st

from app.views.jobs import candidates, review, review_grid, twins
from app.views.state.access import may_edit
from app.views.widgets.controls import choose_view
from graph.jobs.status import Job

SIDE_BY_SIDE, REVIEW, ONE_BY_ONE = "Images side by side", "Review by keyboard", "One by one"
_VIEW = "images_view"


def is_review() -> bool:
    """Whether the images are reviewed, for which the rest of the page makes room."""
    chosen = st.session_state.get(_VIEW, st.query_params.get(_VIEW))
    return chosen == REVIEW and may_edit()


def show(job: Job) -> None:
    """Draw a job's images in the way that is chosen."""
    if not twins.edited(job):
        st.subheader("Candidates", anchor=False)
        ways = (ONE_BY_ONE, REVIEW) if may_edit() else (ONE_BY_ONE,)
        one_by_one = choose_view("Way to look at them", ways, _VIEW) == ONE_BY_ONE
        (candidates if one_by_one else review_grid).show(job)
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
