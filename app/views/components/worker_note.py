"""The workers that run, or how to start one."""

import streamlit as st

from app.views.state import session
from app.views.state.refreshing import refreshing
from app.views.widgets.messages import errors_in_fragment
from app.views.widgets.theme import escape
from graph.jobs.reports import workers_alive
from graph.plugins import is_installed

REFRESH_S = 2


@refreshing(REFRESH_S)
def draw_workers() -> None:
    """Draw the running workers, or how to start one."""
    with errors_in_fragment():
        alive = workers_alive(session.store())
        if alive:
            hosts = ", ".join(sorted({escape(worker.host or worker.id) for worker in alive}))
            noun = "worker runs" if len(alive) == 1 else "workers run"
            st.markdown(f":green[:material/circle:] {len(alive):,} {noun} on {hosts}.")
            return
        install = '`pip install "cobalance[worker]"` once, then '
        install = "" if is_installed("worker") else install
        st.info(
            f"No worker is running, so queued jobs wait. Start one in a terminal: {install}"
            "`cobalance work`. Models need "
            '`pip install "cobalance[models]"` and, to be quick, a GPU; the backend `procedural` '
            "needs neither.",
            icon=":material/power_off:",
        )
