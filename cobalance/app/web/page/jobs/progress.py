"""Live progress: jobs, the chosen job query by query, and tasks such as evaluations."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

import pandas as pd
import streamlit as st

from cobalance.app.web.components import job_form, task_buttons
from cobalance.app.web.page.jobs.job_cards import filter_words
from cobalance.app.web.state import (
    in_url,
    may_edit,
    number_in_url,
    refreshing_while,
    rerun_page,
    session,
    url,
)
from cobalance.app.web.widgets import (
    count_column,
    draw_columns,
    draw_table,
    duration_text,
    edits,
    errors_in_fragment,
    escape,
    percent_column,
    percent_done,
    show_kept_error,
    text_column,
    unless_empty,
)
from cobalance.base import agree, inflect, install_command
from cobalance.graph import (
    KIND,
    QUERY_STATES,
    Job,
    QueryState,
    Task,
    cancel_job,
    list_jobs,
    list_tasks,
    read_queries,
    retry_job,
)

REFRESH_S = 2
PER_PAGE = 50
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
        job = _find_job(dataset, chosen)
        if job is not None:
            _head(job)
        if job is None or facts_of(job) != drawn:
            # It went with its dataset, has ended, or has its first images: more has changed.
            rerun_page()


def draw_queries(dataset: str, job: Job, draw_more: Callable[[], None]) -> None:
    """Draw a note about missing filters and, folded, the queries of a job.

    `draw_more` draws what else belongs to the queries.
    """
    if (warning := _looks(job)) is not None:
        st.caption(warning)
    if job.state == "done":
        _draw_remarks(job)

    n_queries = sum(job.queries.values())
    label = agree(n_queries, "The query", f"All {n_queries:,} queries")
    with st.expander(label, key="_all_queries"):
        # Seldom in one run with what is in sight, which asks for the whole page only when alone.
        refreshing_while(job.is_active, 3.5 * REFRESH_S)(_draw_job)(dataset, job.id)
        draw_more()


def _find_job(dataset: str, chosen: str) -> Job | None:
    jobs = list_jobs(session.store(), dataset, limit=MOST_LISTED)
    return next((job for job in jobs if job.id == chosen), None)


def _draw_job(dataset: str, chosen: str) -> None:
    """Draw how a job is made, its counts, and a page of its queries."""
    with errors_in_fragment():
        job = _find_job(dataset, chosen)
        if job is not None:
            by = unless_empty(" Ordered by {}.", escape(job.created_by))
            st.caption(f"How: {escape(job_form.describe(job.settings))}.{by}")
            _draw_counts(job)
            _queries(job)


def _draw_remarks(job: Job) -> None:
    for remark in job.remarks:
        st.text(remark)


def _duration_or_dash(seconds: float | None) -> str:
    return "-" if seconds is None or pd.isna(seconds) else duration_text(seconds)


def left_text(job: Job | Task) -> str:
    """Time left, if a rate is measured and a worker runs."""
    if job.state != "running":
        return "-"
    if not job.workers:
        return "waits for a worker"
    return _duration_or_dash(job.seconds_left)


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
        if job.state != "done":
            _draw_remarks(job)


def _progress_text(job: Job) -> str:
    text = f"{job.covered:,} of {job.wanted:,} images"
    if job.is_active and job.best_of > 1:
        text += ", {:,} of {:,} candidates".format(*job.steps)
    if job.seconds_left is not None:
        suffix = "left" if job.workers else "left for one worker"
        text += f", about {duration_text(job.seconds_left)} {suffix}"
    return text


def _draw_counts(job: Job) -> None:
    """Draw a job's queries by state, its candidates by verdict, and the time of an image."""
    with st.container(horizontal=True):
        for state in QUERY_STATES:
            st.metric(f"Queries {state}", f"{job.queries[state]:,}")
        st.metric("Accepted", f"{job.accepted:,}")
        st.metric("Rejected", f"{job.rejected:,}")
        if job.pending:
            st.metric("Pending", f"{job.pending:,}", help="Until the best of them are chosen.")

        rate = job.seconds_per_image
        st.metric(
            "Seconds per image",
            "-" if rate is None else f"{rate:.3g}",
            help="Of an accepted one; the time of rejected ones is in it, and that of all the "
            "candidates of which the best is chosen.",
        )


def _looks(job: Job) -> str | None:
    """Warning that no filter of a job looks for the requested content; None otherwise."""
    match filter_words(job).looks:
        case False:
            return (
                ":material/visibility_off: No filter of this job looks for what was asked for: an "
                "accepted image is whole, and may not show it. The filters `clip` and `objects` "
                "look; or review the candidates."
            )
        case None:
            return (
                ":material/visibility_off: The settings of this job cannot be read here, so that "
                "it is not known whether its filters look for what was asked for."
            )
        case _:
            return None


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


def _queries(job: Job) -> None:
    """Draw a page of a job's queries, of all states or of the chosen one."""
    state: QueryState | None = st.pills("Queries", QUERY_STATES, **in_url("query_state"))
    total = job.queries[state] if state else sum(job.queries.values())
    pages = math.ceil(total / PER_PAGE)

    # Queries change their state while this is drawn, so that there may be fewer pages than before.
    page = min(st.session_state.get("queries_page", 1), max(pages, 1))
    frame = read_queries(
        session.store(),
        job.id,
        state=state,
        skip=(page - 1) * PER_PAGE,
        limit=PER_PAGE,
        seconds_per_image=job.seconds_per_image,
    )
    if frame.empty:
        st.caption(f"No query is {state}." if state else "No queries.")
        return

    _draw_query_table(frame)
    if pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pagination(pages, **number_in_url("queries_page"), width=320)
            st.caption(inflect(total, "queries"))


def _draw_query_table(frame: pd.DataFrame) -> None:
    """Draw a row for each query; with the image where any of them edits one."""
    share = (100 * frame["accepted"] // frame["n"]).clip(upper=100)
    time_left = list(map(_duration_or_dash, frame["seconds_left"]))
    help_left = "Of one worker, at the rate measured so far."
    columns = {
        "number": (frame["position"] + 1, st.column_config.NumberColumn("No.", width=50)),
        "class": (frame["class_name"], text_column("Class", width=90)),
        "image": (frame["source_image"], text_column("Edits", width=110)),
        "concepts": (
            frame["concepts"].map(list),
            st.column_config.ListColumn("Concepts", width=220),
        ),
        "state": (frame["state"], text_column("State", width=75)),
        "progress": (share, percent_column(120)),
        "n": (frame["n"], count_column("Wanted", 75)),
        "accepted": (frame["accepted"], count_column("Accepted", 80)),
        "rejected": (frame["rejected"], count_column("Rejected", 80)),
        "left": (time_left, text_column("Time left", width=80, help=help_left)),
        "message": (frame["message"], text_column("Message", width=200)),
    }
    if frame["source_image"].isna().all():
        del columns["image"]
    draw_columns(columns, 330, key="_queries_table", alt="Queries")


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
