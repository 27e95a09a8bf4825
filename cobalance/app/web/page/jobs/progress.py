"""Live progress: the state of the chosen job with its buttons, and tasks such as evaluations."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

import pandas as pd
import streamlit as st

from cobalance.app.web.components import task_buttons
from cobalance.app.web.state import (
    may_edit,
    refreshing_while,
    rerun_page,
    session,
    url,
)
from cobalance.app.web.widgets import (
    draw_table,
    edits,
    errors_in_fragment,
    percent_column,
    percent_done,
    show_kept_error,
    text_column,
)
from cobalance.base import inflect, install_command
from cobalance.graph import (
    KIND,
    Job,
    Task,
    cancel_job,
    drop_short,
    list_jobs,
    list_tasks,
    retry_job,
)
from cobalance.workflows import (
    duration_text,
)

REFRESH_S = 2
MOST_LISTED = 100  # jobs, and tasks
_STATES: Mapping[str, tuple[str, str]] = {
    "preparing": (":material/hourglass_empty:", "gray"),
    "queued": (":material/schedule:", "gray"),
    "running": (":material/play_arrow:", "blue"),
    "done": (":material/check:", "green"),
    "failed": (":material/error:", "red"),
    "cancelled": (":material/block:", "orange"),
}


def time_text(moment: datetime | None, missing: str = "-") -> str:
    """A moment in UTC, to the minute; `missing` for None."""
    return missing if moment is None else f"{moment:%d %b %Y %H:%M} UTC"


def facts_of(job: Job) -> tuple[bool, bool]:
    """Facts of a job that decide how the page around `draw_progress` looks."""
    return job.is_active, job.accepted > 0


@st.fragment(run_every=REFRESH_S)
def draw_progress(dataset: str, chosen: str, drawn: tuple[bool, bool]) -> None:
    """Draw the state of the chosen job in a line, with its buttons, and why it waits or failed."""
    with errors_in_fragment():
        job = find_job(dataset, chosen)
        if job is not None:
            _head(job)
        if job is None or facts_of(job) != drawn:
            # It went with its dataset, has ended, or has its first images: more has changed.
            rerun_page()


def find_job(dataset: str, chosen: str) -> Job | None:
    """Read the chosen job; None once it went with its dataset."""
    jobs = list_jobs(session.store(), dataset, limit=MOST_LISTED)
    return next((job for job in jobs if job.id == chosen), None)


def draw_remarks(job: Job) -> None:
    """Draw a job's remarks, a line each."""
    for remark in job.remarks:
        st.text(remark)


def duration_or_dash(seconds: float | None) -> str:
    """A length of time; a dash where it is unknown."""
    return "-" if seconds is None or pd.isna(seconds) else duration_text(seconds)


def left_text(job: Job | Task) -> str:
    """Time left, if a rate is measured and a worker runs."""
    if job.state != "running":
        return "-"
    if not job.workers:
        return "waits for a worker"
    return duration_or_dash(job.seconds_left)


def _head(job: Job) -> None:
    """Draw a job's state and progress in a line, with its buttons, and why it waits or failed."""
    icon, color = _STATES[job.state]
    with st.container(gap="xxsmall", key="_one_job"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(job.state, icon=icon, color=color)  # type: ignore[arg-type]
            st.progress(job.progress, _progress_text(job))
            if may_edit():
                _controls(job)
        show_kept_error()

        # Any worker can make a job of the extra "worker"; of others the first extra names the
        # command.
        extra = (job.extra or "worker").partition(",")[0]
        if job.state in ("queued", "running") and not job.workers and extra != "worker":
            st.caption(
                ":orange[:material/warning:] It waits for a worker that can make it: "
                f"`{install_command(f'worker,{extra}')}`, then `cobalance work`."
            )
        if job.short:
            st.caption(
                f"{inflect(job.short, 'queries')} gave up with fewer images than wanted; their "
                "message says why."
            )
        if job.state != "done":
            draw_remarks(job)


def _progress_text(job: Job) -> str:
    text = f"{job.covered:,} of {job.wanted:,} images"
    if job.is_active and job.best_of > 1:
        text += ", {:,} of {:,} candidates".format(*job.steps)
    if job.seconds_left is not None:
        suffix = "left" if job.workers else "left for one worker"
        text += f", about {duration_text(job.seconds_left)} {suffix}"
    return text


def _controls(job: Job) -> None:
    """Draw the buttons that a job in its state can do with."""

    def button(
        label: str, key: str, change: Callable[..., object], help_: str | None = None
    ) -> None:
        on_click = edits(change)
        st.button(label, key=key, on_click=on_click, args=(session.store(), job.id), help=help_)

    if job.is_active:
        button("Cancel", "_cancel_job", cancel_job)
    if job.state == "cancelled" and job.remaining:
        button("Resume", "_resume_job", retry_job, "Go on with what is left.")
    elif job.state == "failed" or job.queries["failed"]:
        advice = "Queue the failed queries again; what was accepted stays."
        button("Retry failed", "_retry_job", retry_job, advice)
    if job.short:
        advice = f"Queue {inflect(job.short, 'queries')} again that lack accepted images."
        button("Fill up", "_fill_job", partial(retry_job, short=True), advice)
        advice = f"Do without the images that {inflect(job.short, 'queries')} gave up."
        button("Drop", "_drop_short", drop_short, advice)


_TABLE = "_tasks_table"


def draw_tasks(dataset: str) -> None:
    """Draw the tasks, if any, with buttons to cancel and retry them."""
    tasks = list_tasks(session.store(), dataset, limit=MOST_LISTED)
    if not tasks:
        return

    is_any_active = any(task.is_active for task in tasks)
    refreshing_while(is_any_active, REFRESH_S)(_draw_all_tasks)(dataset)
    if any(task.kind == KIND for task in tasks) and st.button(
        "See the evaluations", key="_tasks_to_evaluate", icon=":material/analytics:"
    ):
        url.go_to("evaluate")


def _draw_all_tasks(dataset: str) -> None:
    """Draw the tasks, remarks on the chosen ones, and buttons to change these."""
    with errors_in_fragment():
        tasks = list_tasks(session.store(), dataset, limit=MOST_LISTED)
        if not tasks:
            # They went with their dataset, or were deleted.
            rerun_page()
            return
        show_kept_error()

        with st.container(border=True, key="_tasks"):
            n_active = sum(task.is_active for task in tasks)
            st.markdown(f"**Tasks**: {len(tasks):,}, {n_active:,} of them queued or running")
            chosen = _draw_task_table(tasks)

            # Of all tasks the table has the remarks.
            if len(chosen) < len(tasks):
                for task in chosen:
                    for remark in task.remarks:
                        st.text(f"{task.id[:6]}: {remark}")
            if may_edit():
                active = [task.id for task in chosen if task.is_active]
                ended = [task.id for task in chosen if task.state in ("failed", "cancelled")]
                task_buttons("tasks", active, ended)


def _draw_task_table(tasks: Sequence[Task]) -> Sequence[Task]:
    """Draw a row for each task; return the chosen ones, or all."""
    columns = {
        "kind": text_column("Task", width=90),
        "id": text_column("Id", width=65),
        "state": text_column("State", width=80),
        "stage": text_column("Stage", width=110),
        "progress": percent_column(110),
        "left": text_column("Time left", width=85, help="In this stage, at the rate so far."),
        "worker": text_column("Worker", width=120),
        "message": text_column("Message", width=280),
        "by": text_column("By", width=80),
    }
    # Rows are chosen by their place: with other tasks the choice is another one, too.
    state = draw_table(
        pd.DataFrame(map(_task_cells, tasks)),
        220,
        columns,
        key=f"{_TABLE} {hash(tuple(task.id for task in tasks))}",
        on_select="rerun",
        selection_mode="multi-row",
        alt="Tasks",
    )
    if len(tasks) == MOST_LISTED:
        st.caption(f"The {MOST_LISTED} newest tasks.")

    rows = state.selection.get("rows") or []
    return [tasks[row] for row in rows if row < len(tasks)] or tasks


def _task_cells(task: Task) -> dict[str, object]:
    """A task's row of the table of tasks."""
    return {
        "kind": task.kind,
        "id": task.id[:6],
        "state": task.state,
        "stage": task.stage if task.is_active else "",
        "progress": _task_percent(task),
        "left": left_text(task),
        "worker": ", ".join(task.hosts),
        "message": " ".join(task.remarks),
        "by": task.created_by or "-",
    }


def _task_percent(task: Task) -> int:
    if task.state == "done":
        return 100
    return int(percent_done(task.done, task.total))
