"""Page Annotate: propose, review, label, measure and compare."""

from cobalance.app.web.page.annotate import label, measure, propose, review, runs
from cobalance.app.web.state import session
from cobalance.app.web.widgets import Page, choose_view

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


PAGE = Page(
    "Annotate",
    "annotate",
    ":material/new_label:",
    page,
    words=("annotation run", "attribute", "annotator"),
)
