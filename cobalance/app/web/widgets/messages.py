"""Error messages, empty states, and progress and outcome of background tasks."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from cobalance.app.web.state import (
    advice_or_unproven,
    may_edit,
    require_editor,
    rerun_page,
    run_began_s,
    session,
    tasks,
)
from cobalance.app.web.widgets.labels import escape
from cobalance.app.web.widgets.tables import percent_done
from cobalance.app.web.widgets.wording import in_app
from cobalance.base import CobalanceError, StoreUnavailableError

P = ParamSpec("P")
# A running task is drawn anew after this time.
REFRESH_S = 1.0
# The error of a callback, until it is drawn.
KEPT_ERROR = "_kept_error"


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show a CobalanceError as its message; other exceptions are defects and pass."""
    try:
        yield
    except StoreUnavailableError as error:
        # The next try opens a new connection.
        session.forget_store()
        show_error(error)
        if session.settings().neo4j_uri is None:
            st.caption("It is a local server: the next try starts it, which takes some seconds.")
        if st.button("Try again", key="_try_again", type="primary"):
            st.rerun()
    except CobalanceError as error:
        show_error(error)


@contextmanager
def errors_in_fragment() -> Iterator[None]:
    """Do the same in a fragment that reruns by itself, outside of `errors_shown`.

    If the database is gone the whole page reruns, which ends the fragment's reruns: else every few
    seconds they would start a local database that somebody has stopped.
    """
    try:
        yield
    except StoreUnavailableError:
        rerun_page()
    except CobalanceError as error:
        show_error(error)


@contextmanager
def errors_kept() -> Iterator[None]:
    """Keep a CobalanceError of a button's callback, for `show_kept_error` in the run after it."""
    try:
        yield
    except CobalanceError as error:
        st.session_state[KEPT_ERROR] = error


def edits(change: Callable[P, object]) -> Callable[P, None]:
    """Decorate a button's callback that changes something: editors alone, with errors kept."""

    @wraps(change)
    def callback(*args: P.args, **named: P.kwargs) -> None:
        with errors_kept():
            require_editor()
            change(*args, **named)

    return callback


def show_kept_error() -> None:
    """Show the error that `errors_kept` has kept, once: where a page or fragment draws first."""
    error = st.session_state.pop(KEPT_ERROR, None)
    if error is not None:
        show_error(error)


def show_error(error: CobalanceError) -> None:
    """Show an error's message as plain text: names in it may hold any characters."""
    logging.getLogger(__name__).info("page shows %s: %s", type(error).__name__, error)
    with st.container(border=True):
        st.markdown(":red[:material/error:] **This did not work**")
        st.text(error.render(in_app))


def empty_state(
    title: str, advice: str, *, icon: str = ":material/info:", action: tuple[str, str] | None = None
) -> bool:
    """Draw an empty state: a title, and advice in Markdown.

    With an `action`, the label and key of a button, return whether it was pressed.
    """
    pressed = False
    with st.container(border=True, horizontal_alignment="center"):
        st.space("small")
        # No heading, which would leave out levels below the page's title.
        st.markdown(f"{icon} **{title}**", text_alignment="center")
        st.markdown(advice, text_alignment="center")
        if action is not None:
            label, key = action
            pressed = st.button(label, key=key)
        st.space("small")

    return pressed


def viewer_note(what: str) -> None:
    """Say who can do something, such as ``delete runs``, unless the user may."""
    if not may_edit():
        advice = advice_or_unproven("Whoever runs this app names them in COBALANCE_EDITORS.")
        st.caption(f":material/lock: You may look: only editors can {what}. {advice}")


def show_task(key: str) -> bool:
    """Draw the task with this key, if there is one; return whether it is running.

    One that has ended since the page began to be drawn counts as running: the page may have read
    what the task has changed since, and is drawn anew.
    """
    task = tasks.find(key)
    if task is None:
        return False
    if task.ended is None or task.ended > run_began_s():
        _show_running(key)
        return True

    with st.container(horizontal=True, vertical_alignment="center"):
        if task.error is not None:
            show_error(task.error)
        elif task.result:
            st.success(escape(task.result), icon=":material/check:")
        st.button("Dismiss", key=f"_dismiss {key}", on_click=tasks.dismiss, args=(key,))
    return False


@st.fragment(run_every=REFRESH_S)
def _show_running(key: str) -> None:
    """Draw how far a task is, every second; when it ends, the whole page is drawn anew."""
    task = tasks.find(key)
    if task is None or not task.is_running:
        # The page shows what the task has changed.
        rerun_page()
        return

    counted = "..."
    if task.total:
        counted = f"{task.done:,} of {task.total:,}"
    elapsed_s = time.monotonic() - task.started
    with st.container(horizontal=True, vertical_alignment="center"):
        share = percent_done(task.done, task.total) / 100
        st.progress(share, escape(f"{task.label}: {task.stage} {counted} ({elapsed_s:.0f} s)"))
        if may_edit():
            st.button("Cancel", key=f"_cancel {key}", on_click=task.cancel)
