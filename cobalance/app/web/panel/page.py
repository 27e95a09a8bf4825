"""Pages Audit and Study: choose one, say who you are, and answer one question after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from cobalance.annotation.auditing.consensus import DOES_NOT, SHOWS, UNKNOWN
from cobalance.app.web.panel.questions import Choice, Questions, draw_blind
from cobalance.app.web.state import session
from cobalance.app.web.state.access import UNPROVEN, NotAllowedError, user
from cobalance.app.web.state.refreshing import refreshing
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.messages import empty_state, errors_in_fragment
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.database.store import GraphStore
from cobalance.graph.panels.audits import Audit
from cobalance.graph.panels.panel import Panel, list_panels, read_answers, read_panel
from cobalance.graph.panels.studies import Study
from cobalance.workflows.panel.answers import Task, answer_task, person_tasks

PERSON = "person"  # the query parameter
_WIDTH_PX = 900
_AUDIT_CHOICES = (
    Choice(SHOWS, "Yes", "y"),
    Choice(DOES_NOT, "No", "n"),
    Choice(UNKNOWN, "Cannot tell", "u"),
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
    """Differences between the two pages.

    Parameters
    ----------
    of : type
        Audit or Study.
    start : callable
        Says how to draw the first one, by store and dataset.
    draw : callable
        Draws a task, with nothing that names its images.
    choices : callable
        The answers of a task.
    """

    of: type[Audit] | type[Study]
    start: Callable[[GraphStore, str], str]
    draw: Callable[[Task], None]
    choices: Callable[[Task], Sequence[Choice]]

    @property
    def name(self) -> str:
        return self.of.kind.name  # also the query parameter


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
            refreshing(None)(_show)(frame, panel.id, person)


def _how_to_audit(store: GraphStore, dataset: str) -> str:
    """Say how to draw the first audit, of the newest run if there is one."""
    runs = [run.id for run in list_runs(store, dataset) if run.has_labels]
    first = (
        "Have a model label images first, on the page Annotate or by `cobalance annotate "
        "label DATASET --with owlv2`. "
    )
    return (
        f"{'' if runs else first}Draw one from a run that labels images: `cobalance annotate audit "
        f"{runs[0] if runs else 'RUN'} --people ann,bob`. It prints the address to send to them."
    )


def _choose(name: str, found: Sequence[Panel]) -> Panel:
    """The panel of the address, else the newest; a choice is drawn where there are several."""
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
    chosen: str | None = st.selectbox(
        "You are",
        people,
        index=None,
        placeholder="Choose your name",
        **in_url(PERSON, people),
        width=320,
    )
    return chosen


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

        def save(at: int, choice: str) -> None:
            now = read_panel(session.store(), frame.of, panel)
            _require_person(now.people, person, frame.name)
            answer_task(session.store(), now, person, at, choice)

        questions = Questions(frame.name, (panel, person), tasks, frame.draw, frame.choices, save)
        closed = getattr(found, "closed_at", None) is not None
        questions.show("This study is closed. Thank you." if closed else "")


def _draw_audited(task: Task) -> None:
    with st.columns(2)[0]:
        draw_blind(task.images[0], "The image", "audit")
    names = [f"**{escape(name)}**" for name in task.concepts]
    all_of = {1: "", 2: "both "}.get(len(names), "all of ")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    st.markdown(f"Does the image show {all_of}{listed}?")


def _draw_pair(task: Task) -> None:
    columns = st.columns(2, gap="small")
    for number, (column, uri) in enumerate(zip(columns, task.images, strict=False), start=1):
        with column:
            draw_blind(uri, f"Image {number}", "study")
    st.markdown(f"**{task.text}**")
    if task.sentence:
        st.markdown(f"“{escape(task.sentence)}”")


def _number_choices(task: Task) -> list[Choice]:
    """The answers of a task of a study, the first nine by their number's key."""
    keys = [*"123456789", *[None] * len(task.choices)]
    return [Choice(one, one, key) for one, key in zip(task.choices, keys, strict=False)]
