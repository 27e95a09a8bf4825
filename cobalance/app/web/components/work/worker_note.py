"""The workers that run, or how to start one."""

import streamlit as st

from cobalance.app.web.components.work.local_workers import beats, draw_local_workers, draw_start
from cobalance.app.web.state import local_workers, session
from cobalance.app.web.state.refreshing import refreshing
from cobalance.app.web.widgets.messages import errors_in_fragment
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.installation import install_command
from cobalance.graph.jobs.reports import workers_alive
from cobalance.graph.plugins import is_installed

REFRESH_S = 2


@refreshing(REFRESH_S)
def draw_workers() -> None:
    """Draw the running workers, those that this app has started, or how to start one."""
    with errors_in_fragment():
        alive = workers_alive(session.store())
        own = local_workers.workers().running()
        elsewhere = [one for one in alive if not any(beats(worker, [one]) for worker in own)]
        if elsewhere:
            hosts = ", ".join(sorted({escape(worker.host or worker.id) for worker in elsewhere}))
            noun = "worker runs" if len(elsewhere) == 1 else "workers run"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f":green[:material/circle:] {len(elsewhere):,} {noun} on {hosts}.")
                draw_start(first=False)
        elif own:
            draw_start(first=False)
        elif local_workers.may_start():
            with st.container(border=True, horizontal=True, vertical_alignment="center"):
                st.markdown(
                    ":material/power_off: No worker is running, so queued jobs wait. Start one "
                    "here, or in a terminal: `cobalance work`.",
                    width="stretch",
                )
                draw_start(first=True)
        else:
            _say_how_to_start()
        draw_local_workers(alive)


def say_needs(extra: str | None) -> None:
    """Say what workers of an order need, unless it is nothing or installed here."""
    if extra and not is_installed(extra):
        st.caption(
            f":orange[:material/warning:] Its workers need `{install_command(f'worker,{extra}')}`, "
            "which is not installed here."
        )


def _say_how_to_start() -> None:
    install = "" if is_installed("worker") else f"`{install_command('worker')}` once, then "
    st.info(
        f"No worker is running, so queued jobs wait. Start one in a terminal: {install}"
        f"`cobalance work`. Models need `{install_command('models')}` and, to be quick, a GPU; "
        "the backend `procedural` needs neither.",
        icon=":material/power_off:",
    )
