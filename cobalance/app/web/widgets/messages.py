"""Error messages and empty states."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.access import UNPROVEN, may_edit, require_editor, user
from cobalance.app.web.state.refreshing import rerun_page
from cobalance.app.web.widgets.wording import in_app
from cobalance.graph.errors import CobalanceError, StoreUnavailableError

P = ParamSpec("P")


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show a CobalanceError as its message; other exceptions are defects and pass."""
    try:
        yield
    except StoreUnavailableError as error:
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
def errors_kept(key: str) -> Iterator[None]:
    """Keep a CobalanceError of a button's callback, for `show_kept_error` in the run after it."""
    try:
        yield
    except CobalanceError as error:
        st.session_state[key] = error


def edits(key: str) -> Callable[[Callable[P, object]], Callable[P, None]]:
    """Decorate a button's callback that changes something: editors alone, with errors kept."""

    def decorate(change: Callable[P, object]) -> Callable[P, None]:
        @wraps(change)
        def callback(*args: P.args, **named: P.kwargs) -> None:
            with errors_kept(key):
                require_editor()
                change(*args, **named)

        return callback

    return decorate


def show_kept_error(key: str) -> None:
    """Show the error that `errors_kept` has kept, once."""
    error = st.session_state.pop(key, None)
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
        st.markdown(f"#### {icon} {title}", text_alignment="center")
        st.markdown(advice, text_alignment="center")
        if action is not None:
            label, key = action
            pressed = st.button(label, key=key)
        st.space("small")
    return pressed


def viewer_note(what: str) -> None:
    """Say who can do something, such as ``delete runs``, unless the user may."""
    if may_edit():
        return
    known = user()
    text = f"You may look: only editors can {what}. "
    if known is not None and not known.is_proven:
        text += UNPROVEN
    else:
        text += "Whoever runs this app names them in COBALANCE_EDITORS."
    st.caption(f":material/lock: {text}")
