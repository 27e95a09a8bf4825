"""Part Audit of Annotate: people judge a model's labels, image after image."""

from collections.abc import Sequence

import streamlit as st

from cobalance.annotation import DOES_NOT, PER_STRATUM, SHOWS, UNKNOWN
from cobalance.app.web.components import panel
from cobalance.app.web.state import session
from cobalance.app.web.widgets import Page, escape
from cobalance.graph import Audit, GraphStore, Panel, list_runs
from cobalance.workflows import AuditSample, Task, draw_audit

_CHOICES: Sequence[panel.Choice] = (
    (SHOWS, "Yes", "y"),
    (DOES_NOT, "No", "n"),
    (UNKNOWN, "Cannot tell", "u"),
)


def page() -> None:
    """Draw the page."""
    panel.draw(
        panel.Frame(
            of=Audit,
            about="People look at images and say what they show, without what a model says of "
            "them: so you know how far its labels can be trusted. It takes a run of *Annotate* "
            "that has labelled images.",
            origins=_labelled_runs,
            first=("Label images", "annotate"),
            unit="Images of each label and class",
            usual=PER_STRATUM,
            sample=_sample,
            draw=_draw,
            choices=lambda _: _CHOICES,
        )
    )


PAGE = Page("Audit", "audit", ":material/fact_check:", page, words=("audit",), part_of="annotate")


def _labelled_runs(store: GraphStore, dataset: str) -> list[str]:
    """Runs whose labels can be judged, newest first."""
    return [run.id for run in list_runs(store, dataset) if run.has_labels]


def _sample(store: GraphStore, run: str, people: tuple[str, ...], number: int) -> Panel:
    output = session.settings().folders().open_output()
    return draw_audit(store, output, run, AuditSample(people, number))


def _draw(task: Task) -> None:
    """Draw an image, and the question whether it shows the concepts of the task."""
    with st.columns(2)[0]:
        panel.draw_blind(task.images[0], "The image", "audit")

    names = [f"**{escape(name)}**" for name in task.concepts]
    all_of = {1: "", 2: "both "}.get(len(names), "all of ")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    st.markdown(f"Does the image show {all_of}{listed}?")
