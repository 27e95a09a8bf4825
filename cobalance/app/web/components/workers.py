"""Running workers, workers that this app has started, and buttons to start and stop them."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from cobalance.app.web.state import may_edit, session
from cobalance.app.web.widgets import (
    button_type,
    download,
    edits,
    errors_in_fragment,
    escape,
    show_kept_error,
)
from cobalance.app.web.workers.supervisor import LocalWorker, LocalWorkers, workers_allowed
from cobalance.base import agree, inflect, install_command, is_installed
from cobalance.graph import GraphStore, Worker, cancel_task, retry_task, workers_alive
from cobalance.workflows import duration_text

LAST_LINES = 15

WORKERS = LocalWorkers()
"""The workers that this process has started, for all its sessions."""


def _draw_start(*, first: bool) -> None:
    """Draw the button that starts a worker, if this person may; primary if it is the `first`."""
    if _may_start():
        st.button(
            "Start worker",
            key="_worker_start",
            type=button_type(first),
            icon=":material/play_arrow:",
            on_click=edits(WORKERS.start),
            args=(_workers_allowed(),),
            help="On the machine of this app. It ends with the app, by *Stop worker*, or when "
            "it has had nothing to do for ten minutes. Models need the extra `models` and, to be "
            "quick, a GPU; the backend `procedural` needs neither.",
        )


def _draw(worker: LocalWorker, alive: Sequence[Worker]) -> None:
    """Draw a worker that this app has started; `alive` have a recent heartbeat."""
    number = worker.number
    with st.container(key=f"_local_worker_{number}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            # Far from the button that started it: a late second press does not stop it.
            if not worker.is_over:
                _draw_stop(worker)
            st.markdown(_state(worker, alive), width="stretch")
            if worker.is_over:
                forget = edits(WORKERS.forget)
                st.button(
                    "Dismiss", key=f"_worker_forget {number}", on_click=forget, args=(number,)
                )
            with st.popover("Log", icon=":material/article:", key=f"_worker_log {number}"):
                _draw_log(worker)

        if worker.reason and (worker.state == "failed" or not worker.was_stopped):
            st.text(worker.reason)


def _draw_stop(worker: LocalWorker) -> None:
    """Draw the button that stops a worker; a second press does not wait for its images."""
    label, advice = "Stop worker", "When its images under way are done."
    if worker.was_stopped:
        label, advice = "End at once", "Without its images under way, which are made again later."
    st.button(
        label,
        key=f"_worker_stop {worker.number}",
        icon=":material/stop:",
        on_click=edits(worker.stop),
        help=advice,
    )


def _state(worker: LocalWorker, alive: Sequence[Worker]) -> str:
    """A worker's state as a Markdown sentence."""
    name = f"Worker {worker.number} of this app"
    running_for = duration_text(max(time.time() - worker.started_at, 1))
    again = f", started again {_times(worker.restarts)}" if worker.restarts else ""

    match worker.state:
        case "running" if _beats(worker, alive):
            return f":green[:material/check_circle:] {name} runs, for {running_for}{again}."
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


def _beats(worker: LocalWorker, alive: Sequence[Worker]) -> bool:
    """Whether a worker's process is among those with a heartbeat, see `worker_id`."""
    return any(running.id.split(":")[-2:-1] == [str(worker.pid)] for running in alive)


def _draw_log(worker: LocalWorker) -> None:
    """Draw the end of a worker's log, with the whole to download."""
    lines = worker.lines()
    if not lines:
        st.caption("It has said nothing yet.")
    else:
        st.caption(f"Its last {min(len(lines), LAST_LINES)} lines.")
        st.code("\n".join(lines[-LAST_LINES:]), language=None, wrap_lines=True)
        download(
            "Download the log",
            "\n".join([*lines, ""]).encode(),
            f"worker-{worker.number}.log",
            key=f"_worker_log_file {worker.number}",
        )


REFRESH_S = 2


@st.fragment(run_every=REFRESH_S)
def draw_workers() -> None:
    """Draw the running workers, or instructions to start one."""
    with errors_in_fragment():
        alive = workers_alive(session.store())
        running = WORKERS.running()
        elsewhere = [beat for beat in alive if not any(_beats(local, [beat]) for local in running)]

        if elsewhere:
            hosts = ", ".join(sorted({escape(worker.host or worker.id) for worker in elsewhere}))
            noun = agree(len(elsewhere), "worker runs", "workers run")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f":green[:material/circle:] {len(elsewhere):,} {noun} on {hosts}.")
                _draw_start(first=False)
        elif running:
            _draw_start(first=False)
        elif _may_start():
            with st.container(border=True, horizontal=True, vertical_alignment="center"):
                st.markdown(
                    ":material/power_off: No worker is running, so queued jobs wait. Start one "
                    "here, or in a terminal: `cobalance work`.",
                    width="stretch",
                )
                _draw_start(first=True)
        else:
            _say_how_to_start()

        show_kept_error()
        if may_edit():
            for worker in WORKERS.all():
                _draw(worker, alive)


def say_needs(extra: str | None) -> None:
    """Name the extra that workers of an order need, if it is missing here."""
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


def _may_start() -> bool:
    """Whether this person may start one more worker now."""
    return may_edit() and is_installed("worker") and len(WORKERS.running()) < _workers_allowed()


def _workers_allowed() -> int:
    return workers_allowed(session.settings(), st.get_option("server.address"))


def task_buttons(plural: str, active: Sequence[str], ended: Sequence[str]) -> None:
    """Draw a button that cancels the active tasks, and one that queues the ended ones again.

    `plural` is the word for them, such as ``evaluations``.
    """

    @edits
    def change_all(change: Callable[[GraphStore, str], object], tasks: Sequence[str]) -> None:
        for task in tasks:
            change(session.store(), task)

    with st.container(horizontal=True):
        if active:
            label, key = f"Cancel {inflect(len(active), plural)}", f"_cancel_{plural}"
            st.button(label, key=key, on_click=change_all, args=(cancel_task, active))
        if ended:
            label, key = f"Run {inflect(len(ended), plural)} again", f"_retry_{plural}"
            st.button(label, key=key, on_click=change_all, args=(retry_task, ended))
