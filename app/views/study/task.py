"""One task of a human study: images, a question, and a button with a key for each answer."""

import streamlit as st

from app.services.studies.answering import ShownTask, answer_task, first_open, shown_tasks
from app.views.components.gallery import image_files
from app.views.state import session
from app.views.study.person import require_person
from app.views.widgets.messages import errors_in_fragment, errors_kept, show_kept_error
from app.views.widgets.theme import escape
from graph.studies.reading import read_answers, read_study
from ingest.concepts.plurals import counted

KEYS = "123456789"
IMAGE_PX = 512
_PROBLEM = "_study_problem"
_BACK = "_study_back"  # the task that somebody went back to


def show(study: str, person: str) -> None:
    """Draw the first task without an answer, or the one that the person went back to."""
    with errors_in_fragment():
        show_kept_error(_PROBLEM)
        store = session.store()
        found = read_study(store, study)
        tasks = shown_tasks(found, person, read_answers(store, study, person))
        unanswered = first_open(tasks)
        place = (study, person)
        back_at, back_in = st.session_state.get(_BACK, (unanswered, place))
        at = min(back_at, unanswered) if back_in == place else unanswered
        answered = sum(task.answer is not None for task in tasks)
        st.progress(
            answered / max(len(tasks), 1), f"{answered:,} of {counted(len(tasks), 'questions')}"
        )
        if found.closed_at is not None:
            st.info("This study is closed. Thank you.", icon=":material/lock:")
            return
        if at == len(tasks):
            st.success(
                f"Thank you, {escape(person)}: that was the last one.", icon=":material/check:"
            )
        else:
            _draw(tasks[at])
            _answers(place, tasks[at], at, unanswered)
        st.button(
            "Back",
            key=f"_study_back {at}",
            on_click=_go_back,
            args=(place, at - 1),
            shortcut="left",
            help="Change your last answer.",
            disabled=at == 0,
        )


def _draw(task: ShownTask) -> None:
    """Draw a task's images, with nothing that names them, and its question."""
    files = image_files()
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        picture = files.thumbnail(uri, IMAGE_PX)
        with column:
            if picture.problem is None:
                st.image(picture.data, width="stretch", alt=f"Image {number}")
            else:  # the placeholder names the file
                st.warning("This image cannot be shown. Please tell whoever runs the study.")
    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _answers(place: tuple[str, str], task: ShownTask, at: int, unanswered: int) -> None:
    """Draw the answers; keys of widgets hold the task, so that a second press answers no other."""
    with st.container(horizontal=True):
        for number, choice in enumerate(task.choices):
            st.button(
                escape(choice),
                key=f"_study_{at}_{number + 1}",
                on_click=_answer,
                args=(place, at, choice, unanswered),
                shortcut=KEYS[number] if number < len(KEYS) else None,
                type="primary" if choice == task.answer else "secondary",
            )


def _answer(place: tuple[str, str], at: int, choice: str, unanswered: int) -> None:
    """Record an answer in a button's callback, and go on to the next task."""
    study, person = place
    with errors_kept(_PROBLEM):
        store = session.store()
        require_person(read_study(store, study), person)
        answer_task(store, study, person, at, choice)
        if at < unanswered:
            st.session_state[_BACK] = (at + 1, place)
        else:
            st.session_state.pop(_BACK, None)


def _go_back(place: tuple[str, str], at: int) -> None:
    st.session_state[_BACK] = (at, place)
