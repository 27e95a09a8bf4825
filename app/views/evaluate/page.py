"""Page Evaluate: order training runs, compare their scores, and score other models' tables."""

from app.views.evaluate import order, results, running, uploaded
from app.views.state import session
from app.views.widgets.controls import choose_view
from graph.evaluations.reading import list_evaluations

RESULTS, TRAIN, SCORE = "Results", "Train models", "Score a table"


def page() -> None:
    """Draw the page."""
    current = session.current()
    found = list_evaluations(current.store, current.name)
    view = choose_view("Part of the page", (RESULTS, TRAIN, SCORE), "evaluate_view")
    running.show(current.name, found)
    if view == TRAIN:
        order.show(current)
    elif view == SCORE:
        uploaded.show(current)
    else:
        results.show(current, found)
