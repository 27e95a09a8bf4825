"""Buttons that cancel tasks, or run them again."""

from collections.abc import Callable, Sequence

import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.access import require_editor
from cobalance.app.web.widgets.messages import errors_kept
from cobalance.graph.database.store import GraphStore
from cobalance.graph.tasks.lifecycle import cancel_task, retry_task
from cobalance.graph.wording import inflect


def task_buttons(what: str, active: Sequence[str], ended: Sequence[str], problem: str) -> None:
    """Draw a button that cancels the active tasks, and one that queues the ended ones again.

    Parameters
    ----------
    what : str
        What people call them, in the plural; also part of the buttons' keys.
    active, ended : sequence of str
        Ids; no button is drawn for none.
    problem : str
        The key that errors are kept under, see `cobalance.app.web.widgets.messages`.
    """

    def draw(
        label: str, key: str, change: Callable[[GraphStore, str], object], tasks: Sequence[str]
    ) -> None:
        def do() -> None:
            with errors_kept(problem):
                require_editor()
                for task in tasks:
                    change(session.store(), task)

        st.button(label, key=key, on_click=do)

    with st.container(horizontal=True):
        if active:
            draw(f"Cancel {inflect(len(active), what)}", f"_cancel_{what}", cancel_task, active)
        if ended:
            draw(f"Run {inflect(len(ended), what)} again", f"_retry_{what}", retry_task, ended)
