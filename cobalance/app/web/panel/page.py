"""Pages Audit and Study: choose one, say who you are, and answer one question after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from cobalance.annotation.auditing.consensus import DOES_NOT, SHOWS, UNKNOWN
from cobalance.app.web.components.shown_images import image_files
from cobalance.app.web.state import session
from cobalance.app.web.state.access import UNPROVEN, NotAllowedError, user
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.controls import choose_one
from cobalance.app.web.widgets.messages import (
    empty_state,
    errors_in_fragment,
    errors_kept,
    show_kept_error,
)
from cobalance.app.web.widgets.theme import escape
from cobalance.base.plurals import inflect
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.database.store import GraphStore
from cobalance.graph.panels.audits import Audit
from cobalance.graph.panels.panel import Panel, list_panels, read_answers, read_panel
from cobalance.graph.panels.studies import Study
from cobalance.workflows.panel.answers import Task, answer_task, person_tasks

PERSON = "person"  # the query parameter
_WIDTH_PX, _IMAGE_PX = 900, 1600
_Choice = tuple[str, str, str | None]
"""An answer as it is recorded, as it is shown, and its key on the keyboard."""
_AUDIT_CHOICES: Sequence[_Choice] = (
    (SHOWS, "Yes", "y"),
    (DOES_NOT, "No", "n"),
    (UNKNOWN, "Cannot tell", "u"),
)


def audit() -> None:
    """Draw the page Audit."""
    _page(_Frame(Audit, _how_to_audit, _draw_audited, lambda _: _AUDIT_CHOICES))


def study() -> None:
    """Draw the page Study."""
    start = (
        "Draw one from a job that edits images: `cobalance evaluate study JOB --people ann,bob`."
    )
    _page(_Frame(Study, lambda *_: start, _draw_pair, _number_choices))


@dataclass(frozen=True)
class _Frame:
    """Differences between the two pages."""

    of: type[Audit] | type[Study]
    start: Callable[[GraphStore, str], str]  # says how to draw the first one
    draw: Callable[[Task], None]  # draws a task, with nothing that names its images
    choices: Callable[[Task], Sequence[_Choice]]  # the answers of a task

    @property
    def name(self) -> str:
        return self.of.kind.name  # also the query parameter

    @property
    def back(self) -> str:
        return f"_{self.name}_back"  # the task that somebody went back to


def _page(frame: _Frame) -> None:
    current = session.current()
    found = list_panels(current.store, frame.of, dataset=current.name)
    if not found:
        empty_state(f"No {frame.name} yet", frame.start(current.store, current.name))
        return
    with st.container(width=_WIDTH_PX):
        with st.container(horizontal=True):
            panel = _choose(frame.name, found)
            person = _choose_person(panel.people, frame.name)
        if person is not None:
            st.fragment(run_every=None)(_show)(frame, panel.id, person)


def _how_to_audit(store: GraphStore, dataset: str) -> str:
    """Say how to draw the first audit, of the newest run if there is one."""
    runs = [run.id for run in list_runs(store, dataset) if run.has_labels]
    first = (
        "Have a model label images first, on the page Annotate or by `cobalance annotate "
        "label DATASET --annotator owlv2`. "
    )
    return (
        f"{'' if runs else first}Draw one from a run that labels images: `cobalance annotate audit "
        f"{runs[0] if runs else 'RUN'} --people ann,bob`. It prints the URL to send to them."
    )


def _choose(name: str, found: Sequence[Panel]) -> Panel:
    """The panel of the URL, else the newest; a choice is drawn where there are several."""
    by_id = {panel.id: panel for panel in found}
    if len(found) == 1:
        return found[0]
    chosen: str = st.selectbox(
        name.capitalize(), list(by_id), **in_url(name, by_id), required=True, width=420
    )
    return by_id[chosen]


def _choose_person(people: Sequence[str], what: str) -> str | None:
    """The one of some people who is at the page, None for nobody; draws a choice without logins."""
    known = user()
    if known is not None and known.name:
        person = _by_address(people, known.address)
        if person is None:
            st.text(
                f"You are logged in as {known.name}, who is not among the people of this {what}."
            )
            if not known.is_proven:
                st.caption(UNPROVEN)
        return person
    return choose_one("You are", people, PERSON, "Choose your name", width=320)


def _require_person(people: Sequence[str], person: str, what: str) -> None:
    """Raise NotAllowedError unless the user is logged in as a person, or there are no logins."""
    known = user()
    if known is None or (known.name and _by_address(people, known.address) != person):
        raise NotAllowedError(f"You are not among the people of this {what}. Ask who runs it.")


def _by_address(people: Sequence[str], address: str) -> str | None:
    """The person with an address, in whichever case it is written; None for nobody."""
    known = {person.casefold(): person for person in people}
    return known.get(address.casefold()) if address else None


def _show(frame: _Frame, panel: str, person: str) -> None:
    """Draw the first task without an answer, or the one that the person went back to."""
    with errors_in_fragment():
        store = session.store()
        found = read_panel(store, frame.of, panel)
        tasks = person_tasks(found, person, read_answers(store, found, person))
        show_kept_error()
        place = panel, person
        unanswered = next((at for at, task in enumerate(tasks) if task.answer is None), len(tasks))
        back_at, back_in = st.session_state.get(frame.back, (unanswered, place))
        at = min(back_at, unanswered) if back_in == place else unanswered
        answered = sum(task.answer is not None for task in tasks)
        st.progress(
            answered / max(len(tasks), 1), f"{answered:,} of {inflect(len(tasks), 'questions')}"
        )
        if isinstance(found, Study) and found.closed_at is not None:
            st.info("This study is closed. Thank you.", icon=":material/lock:")
            return
        if at == len(tasks):
            thanks = f"Thank you, {escape(person)}: that was the last one."
            st.success(thanks, icon=":material/check:")
        else:
            frame.draw(tasks[at])
            _draw_choices(frame, place, tasks[at], at, at + 1 if at < unanswered else None)
        st.button(
            "Back",
            key=f"_{frame.name}_back {at}",
            on_click=_go_to,
            args=(frame, place, at - 1),
            shortcut="left",
            help="Change your last answer.",
            disabled=at == 0,
        )


def _draw_choices(
    frame: _Frame, place: tuple[str, str], task: Task, at: int, following: int | None
) -> None:
    """Draw the answers; keys of widgets hold the task: a second press answers no other."""
    with st.container(horizontal=True):
        for number, (answer, label, key) in enumerate(frame.choices(task), start=1):
            st.button(
                escape(label),
                key=f"_{frame.name}_{at}_{number}",
                on_click=_answer,
                args=(frame, place, at, answer, following),
                shortcut=key,
                type="primary" if answer == task.answer else "secondary",
            )


def _answer(
    frame: _Frame, place: tuple[str, str], at: int, answer: str, following: int | None
) -> None:
    """Record an answer in a button's callback, and go on; to the first without, for None."""
    panel, person = place
    with errors_kept():
        now = read_panel(session.store(), frame.of, panel)
        _require_person(now.people, person, frame.name)
        answer_task(session.store(), now, person, at, answer)
        _go_to(frame, place, following)


def _go_to(frame: _Frame, place: tuple[str, str], at: int | None) -> None:
    if at is None:
        st.session_state.pop(frame.back, None)
    else:
        st.session_state[frame.back] = at, place


def _draw_blind(uri: str | None, alt: str, frame: str) -> None:
    """Draw an image of which nothing names its file."""
    picture = image_files().thumbnail(uri, _IMAGE_PX)
    if picture.problem is None:
        st.image(picture.data, width="stretch", alt=alt)
    else:  # the placeholder names the file
        st.warning(f"This image cannot be shown. Please tell whoever runs the {frame}.")


def _draw_audited(task: Task) -> None:
    with st.columns(2)[0]:
        _draw_blind(task.images[0], "The image", "audit")
    names = [f"**{escape(name)}**" for name in task.concepts]
    all_of = {1: "", 2: "both "}.get(len(names), "all of ")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    st.markdown(f"Does the image show {all_of}{listed}?")


def _draw_pair(task: Task) -> None:
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        with column:
            _draw_blind(uri, f"Image {number}", "study")
    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _number_choices(task: Task) -> list[_Choice]:
    """The answers of a task of a study, the first nine by their number's key."""
    keys = [*"123456789", *[None] * len(task.choices)]
    return [(one, one, key) for one, key in zip(task.choices, keys, strict=False)]
