"""Page Annotate: runs and their thresholds, the review of attributes, and new labelling runs."""

from app.views.annotate import label, propose, review, runs
from app.views.state import session
from app.views.widgets.controls import choose_view

RUNS, REVIEW, LABEL, PROPOSE = "Runs", "Review", "Label", "Propose"


def page() -> None:
    """Draw the page."""
    current = session.current()
    view = choose_view("Part of the page", (RUNS, REVIEW, LABEL, PROPOSE), "annotate_view")
    if view == REVIEW:
        review.show(current)
    elif view == LABEL:
        label.show(current)
    elif view == PROPOSE:
        propose.show(current)
    else:
        runs.show(current)
