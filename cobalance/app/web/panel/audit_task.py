"""One task of an audit: an image, a concept, and whether the one shows the other."""

import streamlit as st

from cobalance.annotation.auditing.answers import DOES_NOT, SHOWS
from cobalance.annotation.auditing.consensus import UNKNOWN
from cobalance.app.web.components.images.one_by_one import Choice, Questions, draw_blind
from cobalance.app.web.components.person import require_person
from cobalance.app.web.state import session
from cobalance.app.web.widgets.messages import errors_in_fragment
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.audits.reading import read_answers, read_audit
from cobalance.workflows.panel.audit_answers import AuditTask, answer_audit, audit_tasks

CHOICES = (
    Choice(SHOWS, "Yes", "y"),
    Choice(DOES_NOT, "No", "n"),
    Choice(UNKNOWN, "Cannot tell", "u"),
)


def show(audit: str, person: str) -> None:
    """Draw the first task without an answer, or the one that the person went back to."""
    with errors_in_fragment():
        store = session.store()
        tasks = audit_tasks(read_audit(store, audit), person, read_answers(store, audit, person))

        def save(at: int, choice: str) -> None:
            require_person(read_audit(session.store(), audit).people, person, "audit")
            answer_audit(session.store(), audit, person, at, choice)

        Questions("audit", (audit, person), tasks, _draw, lambda _: CHOICES, save).show()


def _draw(task: AuditTask) -> None:
    """Draw a task's image, with nothing that names it, its class or its label."""
    with st.columns(2)[0]:
        draw_blind(task.uri, "The image", "audit")
    names = [f"**{escape(name)}**" for name in task.concepts]
    all_of = {1: "", 2: "both "}.get(len(names), "all of ")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    st.markdown(f"Does the image show {all_of}{listed}?")
