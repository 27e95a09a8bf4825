"""Blind samples that people judge: choose one, say who you are, and answer one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from cobalance.app.web.components.shown_images import image_files
from cobalance.app.web.state import (
    UNPROVEN,
    CurrentDataset,
    NotAllowedError,
    in_url,
    may_edit,
    session,
    tasks,
    url,
    user,
)
from cobalance.app.web.widgets import (
    button_type,
    choose_one,
    empty_state,
    errors_in_fragment,
    errors_kept,
    escape,
    show_kept_error,
    show_task,
    viewer_note,
)
from cobalance.base import Progress, inflect
from cobalance.graph import Audit, GraphStore, Panel, Study, list_panels, read_answers, read_panel
from cobalance.workflows import Task, answer_task, person_tasks

PERSON = "person"  # the query parameter
_WIDTH_PX, _IMAGE_PX = 900, 1600
Choice = tuple[str, str, str | None]
"""An answer as it is recorded, as it is shown, and its key on the keyboard."""


@dataclass(frozen=True)
class Frame:
    """Differences between the audits and studies."""

    of: type[Audit] | type[Study]
    about: str  # what people do, and what there has to be for that
    origins: Callable[[GraphStore, str], Sequence[str]]  # runs or jobs that one can be drawn from
    first: tuple[str, str]  # the button, and the page that it leads to, where there are none
    unit: str  # what a sample is counted in, and
    usual: int  # how many of it are drawn unless somebody says otherwise
    sample: Callable[[GraphStore, str, tuple[str, ...], int], Panel]  # draws one from an origin
    draw: Callable[[Task], None]  # draws a task, with nothing that names its images
    choices: Callable[[Task], Sequence[Choice]]  # the answers of a task

    @property
    def name(self) -> str:
        """What people take part in, also the query parameter."""
        return self.of.kind.name

    @property
    def back(self) -> str:
        """Key of the task that somebody went back to."""
        return f"_{self.name}_back"


def draw(frame: Frame) -> None:
    """Draw the choice of a panel and of a person, and the next task."""
    current = session.current()
    key = f"{frame.name} {current.name}"
    if show_task(key):
        return
    panels = list_panels(current.store, frame.of, dataset=current.name)
    if not panels:
        _offer(frame, current, key)
    else:
        with st.container(width=_WIDTH_PX):
            with st.container(horizontal=True):
                panel = _choose(frame.name, panels)
                person = _choose_person(panel.people, frame.name)
            if person is not None:
                st.fragment(run_every=None)(_show)(frame, panel.id, person)


def _offer(frame: Frame, current: CurrentDataset, key: str) -> None:
    """Draw the purpose of a panel and the form for drawing the first one; for editors alone."""
    viewer_note(f"draw one for this {frame.of.kind.subject}")
    origins = frame.origins(current.store, current.name)
    empty_state(f"No {frame.name} yet", frame.about, icon=":material/groups:")
    if not may_edit():
        return
    if not origins:
        label, path = frame.first
        if st.button(label, type="primary", key=f"_{frame.name}_first"):
            url.go_to(path)
        return

    with st.form(f"_draw {frame.name}", border=False):
        with st.container(horizontal=True):
            subject = frame.of.kind.subject.capitalize()
            origin = st.selectbox(subject, origins, key=f"_{frame.name}_of", width=320)
            names = st.text_input(
                "People",
                placeholder="ann, bob",
                key=f"_{frame.name}_people",
                help="A name for each, between commas; e-mail addresses where people log in.",
            )
            number = st.number_input(
                frame.unit, 1, value=frame.usual, key=f"_{frame.name}_n", width=260
            )
        is_asked = st.form_submit_button("Draw one", type="primary", key=f"_{frame.name}_draw")
    if is_asked:
        people = tuple(name for name in names.split(",") if name.strip())

        def work(_: Progress) -> str:
            drawn = frame.sample(current.store, origin, people, int(number))
            return f"Drawn for {', '.join(drawn.people)}. Send this page's address to each of them."

        tasks.start(key, f"Drawing the {frame.name}", work)
        st.rerun()


def _choose(name: str, panels: Sequence[Panel]) -> Panel:
    """The panel of the URL, else the newest; a choice is drawn where there are several."""
    if len(panels) == 1:
        return panels[0]
    by_id = {panel.id: panel for panel in panels}
    chosen: str = st.selectbox(
        name.capitalize(), list(by_id), **in_url(name, by_id), required=True, width=420
    )
    return by_id[chosen]


def _choose_person(people: Sequence[str], panel: str) -> str | None:
    """The one of some people who is at the page, None for nobody; draws a choice without logins."""
    visitor = user()
    if visitor is None or not visitor.name:
        return choose_one("You are", people, PERSON, "Choose your name", width=320)

    person = _by_address(people, visitor.address)
    if person is None:
        st.text(
            f"You are logged in as {visitor.name}, who is not among the people of this {panel}."
        )
        if not visitor.is_proven:
            st.caption(UNPROVEN)
    return person


def _require_person(people: Sequence[str], person: str, panel: str) -> None:
    """Raise NotAllowedError unless the user is logged in as a person, or there are no logins."""
    visitor = user()
    if visitor is None or (visitor.name and _by_address(people, visitor.address) != person):
        raise NotAllowedError(f"You are not among the people of this {panel}. Ask who runs it.")


def _by_address(people: Sequence[str], address: str) -> str | None:
    """The person with an address, in whichever case it is written; None for nobody."""
    by_address = {person.casefold(): person for person in people}
    return by_address.get(address.casefold()) if address else None


def _show(frame: Frame, panel: str, person: str) -> None:
    """Draw the first task without an answer, or the one that the person went back to."""
    with errors_in_fragment():
        store = session.store()
        stored = read_panel(store, frame.of, panel)
        tasks = person_tasks(stored, person, read_answers(store, stored, person))
        show_kept_error()

        # Nobody skips a task: at most the first one without an answer is shown.
        numbers = [number for number, task in enumerate(tasks) if task.answer is None]
        unanswered = next(iter(numbers), len(tasks))
        place = panel, person
        number, place_before = st.session_state.get(frame.back, (unanswered, place))
        if place_before != place or number > unanswered:
            number = unanswered
        n_answered = len(tasks) - len(numbers)
        text = f"{n_answered:,} of {inflect(len(tasks), 'questions')}"
        st.progress(n_answered / max(len(tasks), 1), text)

        if isinstance(stored, Study) and stored.closed_at is not None:
            st.info("This study is closed. Thank you.", icon=":material/lock:")
            return
        if number == len(tasks):
            thanks = f"Thank you, {escape(person)}: that was the last one."
            st.success(thanks, icon=":material/check:")
        else:
            frame.draw(tasks[number])
            following = number + 1 if number < unanswered else None
            _draw_choices(frame, place, tasks[number], number, following)
        st.button(
            "Back",
            key=f"_{frame.name}_back {number}",
            on_click=_go_to,
            args=(frame, place, number - 1),
            shortcut="left",
            help="Change your last answer.",
            disabled=number == 0,
        )


def _draw_choices(
    frame: Frame, place: tuple[str, str], task: Task, number: int, following: int | None
) -> None:
    """Draw the answers of a task."""
    with st.container(horizontal=True):
        for choice, (answer, label, key) in enumerate(frame.choices(task), start=1):
            # With the task in the key, a second press answers no other task.
            st.button(
                escape(label),
                key=f"_{frame.name}_{number}_{choice}",
                on_click=_answer,
                args=(frame, place, number, answer, following),
                shortcut=key,
                type=button_type(answer == task.answer),
            )


def _answer(
    frame: Frame, place: tuple[str, str], number: int, answer: str, following: int | None
) -> None:
    """Record an answer in a button's callback, and go on; to the first without, for None."""
    panel, person = place
    with errors_kept():
        # Read anew: the panel may have changed since the button was drawn.
        stored = read_panel(session.store(), frame.of, panel)
        _require_person(stored.people, person, frame.name)
        answer_task(session.store(), stored, person, number, answer)
        _go_to(frame, place, following)


def _go_to(frame: Frame, place: tuple[str, str], number: int | None) -> None:
    if number is None:
        st.session_state.pop(frame.back, None)
    else:
        st.session_state[frame.back] = number, place


def draw_blind(uri: str | None, alt: str, frame: str) -> None:
    """Draw an image of which nothing names its file."""
    picture = image_files().thumbnail(uri, _IMAGE_PX)
    # The placeholder of a picture that cannot be read names the file.
    if picture.problem is None:
        st.image(picture.data, width="stretch", alt=alt)
    else:
        st.warning(f"This image cannot be shown. Please tell whoever runs the {frame}.")
