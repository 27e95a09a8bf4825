"""The workers that this app has started: a button for one more, their state, log and end."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from cobalance.app.web.state import local_workers
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.messages import errors_kept, show_kept_error
from cobalance.app.web.widgets.theme import duration_text
from cobalance.app.web.workers.supervisor import LocalWorker
from cobalance.graph.jobs.reports import Worker

LAST_LINES = 15
_PROBLEM = "_worker_problem"


def draw_local_workers(alive: Sequence[Worker]) -> None:
    """Draw the workers that this app has started, for editors.

    Parameters
    ----------
    alive : sequence of Worker
        The workers with a recent heartbeat, of any machine.
    """
    show_kept_error(_PROBLEM)
    for worker in local_workers.shown():
        _draw(worker, alive)


def draw_start(*, first: bool) -> None:
    """Draw the button that starts a worker, where this person may.

    Parameters
    ----------
    first : bool
        Whether no other worker runs.
    """
    if local_workers.may_start():
        st.button(
            "Start worker",
            key="_worker_start",
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            on_click=_do,
            args=(local_workers.start,),
            help="On the machine of this app. It ends with the app, by *Stop worker*, or when "
            "it has had nothing to do for ten minutes. Models need the extra `models` and, to be "
            "quick, a GPU; the backend `procedural` needs neither.",
        )


def _draw(worker: LocalWorker, alive: Sequence[Worker]) -> None:
    number = worker.number
    with st.container(key=f"_local_worker_{number}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_state(worker, alive), width="stretch")
            with st.popover("Log", icon=":material/article:", key=f"_worker_log {number}"):
                _draw_log(worker)
            if worker.is_over:
                forget = partial(local_workers.forget, number)
                st.button("Dismiss", key=f"_worker_forget {number}", on_click=_do, args=(forget,))
            else:
                stopping = worker.was_stopped
                st.button(
                    "End at once" if stopping else "Stop worker",
                    key=f"_worker_stop {number}",
                    icon=":material/stop:",
                    on_click=_do,
                    args=(partial(local_workers.stop, number),),
                    help="Without its images under way, which are made again later."
                    if stopping
                    else "When its images under way are done.",
                )
        if worker.reason and (worker.state == "failed" or not worker.was_stopped):
            st.text(worker.reason)


def _state(worker: LocalWorker, alive: Sequence[Worker]) -> str:
    """What a worker does now, in Markdown."""
    name = f"Worker {worker.number} of this app"
    for_ = duration_text(max(time.time() - worker.started_at, 1))
    again = f", started again {_times(worker.restarts)}" if worker.restarts else ""
    match worker.state:
        case "running" if beats(worker, alive):
            return f":green[:material/check_circle:] {name} runs, for {for_}{again}."
        case "running":
            return f":gray[:material/hourglass_empty:] {name} is starting{again}."
        case "restarting":
            return f":orange[:material/restart_alt:] {name} has died, and is started again soon."
        case "stopping":
            return f":gray[:material/hourglass_empty:] {name} ends when its images are done."
        case "failed":
            return f":red[:material/error:] {name} has died{again}. It is not started again."
        case "ended" if worker.was_stopped:
            return f":gray[:material/stop_circle:] {name} was stopped."
        case "ended":
            return f":gray[:material/stop_circle:] {name} has ended, as it had nothing to do."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def beats(worker: LocalWorker, alive: Sequence[Worker]) -> bool:
    """Whether a worker's process is among those with a heartbeat, see `worker_id`."""
    return any(one.id.split(":")[-2:-1] == [str(worker.pid)] for one in alive)


def _draw_log(worker: LocalWorker) -> None:
    lines = worker.lines()
    st.caption(
        f"Its last {min(len(lines), LAST_LINES)} lines." if lines else "It has said nothing yet."
    )
    if lines:
        st.code("\n".join(lines[-LAST_LINES:]), language=None, wrap_lines=True)
        download(
            "Download the log",
            lambda: "\n".join([*worker.lines(), ""]).encode(),
            f"worker-{worker.number}.log",
            key=f"_worker_log_file {worker.number}",
        )


def _do(change: Callable[[], None]) -> None:
    with errors_kept(_PROBLEM):
        change()
