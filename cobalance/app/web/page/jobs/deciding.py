"""Decisions of a person on a job's candidates, and how to take them back."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from cobalance.app.web.state import session, user_name
from cobalance.app.web.widgets import edits
from cobalance.graph import QueryDecisions, Verdict, decide, read_decisions, restore_decisions

MOST_UNDONE = 200
_STEPS = "_decided"


@dataclass(frozen=True)
class Step:
    """Change of a job by one key or click, for undo: its queries before and after, in order.

    `place` is where on the page it was, to go back to.
    """

    job: str
    place: int
    changes: list[tuple[QueryDecisions, QueryDecisions]] = field(default_factory=list)


def decide_all(job: str, candidates: Sequence[str], verdict: Verdict, place: int = 0) -> None:
    """Decide on candidates in the person's name, in a callback, as one step to take back."""
    step = Step(job, place)
    steps = st.session_state.setdefault(_STEPS, [])

    # A decision that fails is a step, too: the browser counts all of its decisions.
    steps.append(step)
    del steps[:-MOST_UNDONE]
    _decide(step, candidates, verdict)


@edits
def _decide(step: Step, candidates: Sequence[str], verdict: Verdict) -> None:
    store = session.store()
    for candidate in candidates:
        query = candidate.rpartition("/")[0]
        before = read_decisions(store, query)
        decide(store, candidate, verdict, user_name())
        step.changes.append((before, read_decisions(store, query)))


def undo(job: str) -> int | None:
    """Take a job's last step back, in a callback; give the place where it was, if there was one."""
    steps: list[Step] = st.session_state.get(_STEPS, [])
    last = next((step for step in reversed(steps) if step.job == job), None)
    if last is None:
        return None
    steps.remove(last)
    _restore(last)
    return last.place


@edits
def _restore(step: Step) -> None:
    for before, after in reversed(step.changes):
        restore_decisions(session.store(), before, after)


def can_undo(job: str) -> bool:
    """Whether this session has a step of a job to take back."""
    return any(step.job == job for step in st.session_state.get(_STEPS, []))
