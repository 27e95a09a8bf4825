"""Part Audit of Annotate: whether images show what a model says, one after the other."""

from collections.abc import Sequence

import streamlit as st

from cobalance.annotation.auditing import DOES_NOT, SHOWS, UNKNOWN
from cobalance.app.web.components import panel
from cobalance.app.web.widgets import Page, escape
from cobalance.graph.annotations import list_runs
from cobalance.graph.database import GraphStore
from cobalance.graph.panels import Audit
from cobalance.workflows.panel import Task

_CHOICES: Sequence[panel.Choice] = (
    (SHOWS, "Yes", "y"),
    (DOES_NOT, "No", "n"),
    (UNKNOWN, "Cannot tell", "u"),
)


def page() -> None:
    """Draw the page."""
    panel.draw(panel.Frame(Audit, _how_to_start, _draw, lambda _: _CHOICES))


PAGE = Page("Audit", "audit", ":material/fact_check:", page, words=("audit",), part_of="annotate")


def _how_to_start(store: GraphStore, dataset: str) -> str:
    """Say how to draw the first audit, of the newest run if there is one."""
    runs = [run.id for run in list_runs(store, dataset) if run.has_labels]
    first_step = ""
    if not runs:
        first_step = (
            "Have a model label images first, on the page Annotate or by `cobalance annotate "
            "label DATASET --annotator owlv2`. "
        )
    return (
        f"{first_step}Draw one from a run that labels images: `cobalance annotate audit "
        f"{next(iter(runs), 'RUN')} --people ann,bob`. It prints the URL to send to them."
    )


def _draw(task: Task) -> None:
    """Draw an image, and the question whether it shows the concepts of the task."""
    with st.columns(2)[0]:
        panel.draw_blind(task.images[0], "The image", "audit")

    names = [f"**{escape(name)}**" for name in task.concepts]
    all_of = {1: "", 2: "both "}.get(len(names), "all of ")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    st.markdown(f"Does the image show {all_of}{listed}?")
