"""Reruns of the whole page, from fragments that refresh themselves, that lose no click.

A run that is cut short forgets which button was pressed: code after the cut is never told. A
click is safe in a button's callback, which runs before anything is drawn. For all others

- runs of a session follow one another (`cobalance.app.web.server.serve` turns off
  `runner.fastReruns`, whose runs overlap, and of which the older clears the newer one's click when
  it ends), and
- a fragment asks for the whole page with `rerun_page`, which lets the present run reach its end;
  its buttons act in callbacks, as what runs after `rerun_page` in it may not see a click.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from cobalance.app.web.server.streamlit_internals import fragments_drawn, leave_containers

P = ParamSpec("P")
T = TypeVar("T")
_ASKED = "_page_asked"
_BEGAN = "_page_began"


def rerun_page() -> None:
    """Draw the whole page anew: from a fragment of its own accord now, else after this run.

    The caller returns. If other fragments are drawn in the same run, one of them may be told of a
    click, and the page is left to the next refresh.
    """
    drawn = fragments_drawn()
    if not drawn:
        st.session_state[_ASKED] = True
    elif drawn == 1:
        st.rerun()


def redraw(*fragments: str) -> None:
    """Draw only the fragments with these keys anew; the whole page where it lacks one of them.

    The last call of a widget's callback. A fragment's widgets that change more than the fragment
    end their callbacks with `st.rerun`.
    """
    with suppress(StreamlitAPIException):
        st.rerun(fragments)


def refreshing_while(is_active: bool, every_s: float) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make functions fragments, which draw themselves anew every few seconds if `is_active`."""
    return st.fragment(run_every=every_s if is_active else None)


def begin_run() -> None:
    """Reset the state of earlier runs, at the very start of a run of the whole page.

    A fragment that ends as the page is asked for leaves its container behind as the place where
    elements go, in the thread that draws the page next: all of it would be drawn in a dialog that
    was just closed.
    """
    leave_containers()
    st.session_state.pop(_ASKED, None)
    st.session_state[_BEGAN] = time.monotonic()


def run_began_s() -> float:
    """Start of the last run of the whole page, in seconds of `time.monotonic`."""
    return st.session_state.get(_BEGAN, 0.0)


def rerun_if_asked() -> None:
    """Rerun if `rerun_page` was called; at the end of a run of the whole page."""
    if st.session_state.pop(_ASKED, False):
        st.rerun()
