"""Page Annotate: propose, review, label, measure, compare and audit."""

from collections.abc import Callable, Mapping

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


def page(views: Mapping[str, Callable[[], None]]) -> None:
    """Draw the page, of which `views` are parts, too."""
    part = choose_view("Part of the page", (*PARTS, *views), "annotate_view")
    if part in views:
        views[part]()
    else:
        PARTS[part](session.current())


PAGE = Page(
    "Annotate",
    "annotate",
    ":material/new_label:",
    page,
    words=("annotation run", "attribute", "annotator"),
)
