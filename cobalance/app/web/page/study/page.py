"""Page Study: an edited image and its original side by side, one pair after the other."""

import streamlit as st

from cobalance.app.web.components import panel
from cobalance.app.web.widgets import Page, escape
from cobalance.graph.panels import Study
from cobalance.workflows.panel import Task

_START = "Draw one from a job that edits images: `cobalance evaluate study JOB --people ann,bob`."


def page() -> None:
    """Draw the page."""
    panel.draw(panel.Frame(Study, lambda *_: _START, _draw, _number_choices))


PAGE = Page("Study", "study", ":material/groups:", page, words=("study",))


def _draw(task: Task) -> None:
    """Draw two images side by side, and the question about them."""
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        with column:
            panel.draw_blind(uri, f"Image {number}", "study")

    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _number_choices(task: Task) -> list[panel.Choice]:
    """The answers of a task of a study, the first nine by their number's key."""
    keys = [*"123456789", *[None] * len(task.choices)]
    return [(answer, answer, key) for answer, key in zip(task.choices, keys, strict=False)]
