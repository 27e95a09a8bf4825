"""Page Evaluate: order training runs, compare their scores, and score other models' tables."""

import streamlit as st

from cobalance.app.web.evaluate import deleting, order, results, running, uploaded
from cobalance.app.web.state import session
from cobalance.app.web.widgets.controls import choose_view
from cobalance.graph.evaluations.reading import list_evaluations

RESULTS, TRAIN, SCORE = "Results", "Train models", "Score a table"


def page() -> None:
    """Draw the page."""
    current = session.current()
    found = list_evaluations(current.store, current.name)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        view = choose_view("Part of the page", (RESULTS, TRAIN, SCORE), "evaluate_view")
        if found:
            deleting.show(found)
    running.show(current.name, found)
    if view == TRAIN:
        order.show(current)
    elif view == SCORE:
        uploaded.show(current)
    else:
        results.show(current, found)
