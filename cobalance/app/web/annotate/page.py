"""Page Annotate: what models propose and label, what people decide of it, and what it is worth."""

from cobalance.app.web.annotate import label, measure, propose, review, runs
from cobalance.app.web.state import session
from cobalance.app.web.widgets.controls import choose_view

PARTS = {
    "Runs": runs.show,
    "Propose": propose.show_propose,
    "Review": review.show,
    "Label": label.show,
    "Extract": propose.show_extract,
    "Measure": measure.show_measure,
    "Compare": measure.show_compare,
}


def page() -> None:
    """Draw the page."""
    PARTS[choose_view("Part of the page", tuple(PARTS), "annotate_view")](session.current())
