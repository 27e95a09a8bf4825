"""One task of a human study: images, a question, and a button with a key for each answer."""

import streamlit as st

from cobalance.app.web.components.images.one_by_one import Choice, Questions, draw_blind
from cobalance.app.web.components.person import require_person
from cobalance.app.web.state import session
from cobalance.app.web.widgets.messages import errors_in_fragment
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.studies.reading import read_answers, read_study
from cobalance.workflows.panel.study_answers import ShownTask, answer_task, shown_tasks

KEYS = "123456789"


def show(study: str, person: str) -> None:
    """Draw the first task without an answer, or the one that the person went back to."""
    with errors_in_fragment():
        store = session.store()
        found = read_study(store, study)
        tasks = shown_tasks(found, person, read_answers(store, study, person))

        def save(at: int, choice: str) -> None:
            require_person(read_study(session.store(), study).people, person, "study")
            answer_task(session.store(), study, person, at, choice)

        questions = Questions("study", (study, person), tasks, _draw, _choices, save)
        closed = found.closed_at is not None
        questions.show("This study is closed. Thank you." if closed else "")


def _draw(task: ShownTask) -> None:
    """Draw a task's images, with nothing that names them, and its question."""
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        with column:
            draw_blind(uri, f"Image {number}", "study")
    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _choices(task: ShownTask) -> list[Choice]:
    return [
        Choice(choice, choice, KEYS[number] if number < len(KEYS) else None)
        for number, choice in enumerate(task.choices)
    ]
