"""Progress and outcome of a background task."""

import time

import streamlit as st

from cobalance.app.web.state import tasks
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.refreshing import rerun_page, run_began_s
from cobalance.app.web.widgets.messages import show_error
from cobalance.app.web.widgets.theme import escape

REFRESH_S = 1.0


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
    task = tasks.find(key)
    if task is None or not task.is_running:
        rerun_page()  # what the task has changed
        return
    share = task.done / task.total if task.total else 0.0
    counted = f"{task.done:,} of {task.total:,}" if task.total else "..."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            min(share, 1.0),
            escape(
                f"{task.label}: {task.stage} {counted} ({time.monotonic() - task.started:.0f} s)"
            ),
        )
        if may_edit():
            st.button("Cancel", key=f"_cancel {key}", on_click=task.cancel)
