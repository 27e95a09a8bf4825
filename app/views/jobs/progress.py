"""Live progress: the list of jobs, and the chosen job query by query."""

from collections.abc import Callable, Mapping
from datetime import datetime

import pandas as pd
import streamlit as st

from app.views.components import job_form
from app.views.state import session
from app.views.state.access import may_edit, require_editor
from app.views.widgets.columns import count_column, percent_column, table_height
from app.views.widgets.markdown import escape
from app.views.widgets.messages import errors_in_fragment, show_error
from app.views.widgets.theme import duration_text
from graph.database.store import GraphStore
from graph.errors import CobalanceError
from graph.jobs.lifecycle import QUERY_STATES, QueryState, cancel_job, retry_job
from graph.jobs.status import Job, list_jobs, read_queries
from ingest.concepts.plurals import counted

REFRESH_S = 2
PER_PAGE = 50
MOST_JOBS = 100
_PROBLEM = "_job_problem"
_STATES: Mapping[str, tuple[str, str]] = {
    "preparing": (":material/hourglass_empty:", "gray"),
    "queued": (":material/schedule:", "gray"),
    "running": (":material/play_arrow:", "blue"),
    "done": (":material/check:", "green"),
    "failed": (":material/error:", "red"),
    "cancelled": (":material/block:", "orange"),
}


def time_text(moment: datetime | None) -> str:
    """A moment in UTC, to the minute."""
    return f"{moment:%d %b %Y %H:%M} UTC" if moment is not None else "-"


def facts_of(job: Job) -> tuple[bool, bool]:
    """The facts of a job that decide what the page around `draw_progress` shows."""
    return job.is_active, job.accepted > 0


@st.fragment(run_every=REFRESH_S)
def draw_progress(
    dataset: str,
    chosen: str,
    overview: "st.delta_generator.DeltaGenerator",
    drawn: tuple[bool, bool],
) -> None:
    """Draw the list of jobs, and the chosen job with its queries and buttons."""
    with errors_in_fragment():
        jobs = list_jobs(session.store(), dataset, limit=MOST_JOBS)
        with overview:
            _overview(jobs)
        problem = st.session_state.pop(_PROBLEM, None)
        if problem is not None:
            show_error(problem)
        job = next((job for job in jobs if job.id == chosen), None)
        if job is None or facts_of(job) != drawn:
            # It went with its dataset, has ended, or has its first images: more has changed.
            st.rerun()
            return
        with st.container(border=True, key="_one_job"):
            _head(job)
            _queries(job)


def _overview(jobs: list[Job]) -> None:
    config = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "plan": [job.plan for job in jobs],
                "state": [job.state for job in jobs],
                "progress": [int(100 * job.progress) for job in jobs],
                "wanted": [job.wanted for job in jobs],
                "accepted": [job.accepted for job in jobs],
                "rejected": [job.rejected for job in jobs],
                "failed": [job.queries["failed"] for job in jobs],
                "left": [_left(job) for job in jobs],
                "created": [time_text(job.created_at) for job in jobs],
                "by": [job.created_by or "-" for job in jobs],
            }
        ),
        hide_index=True,
        height=table_height(len(jobs), 220),
        key="_jobs_table",
        column_config={
            "plan": config.TextColumn("Plan", width=180),
            "state": config.TextColumn("State", width=80),
            "progress": percent_column("Progress", 130),
            "wanted": count_column("Wanted", width=75),
            "accepted": count_column("Accepted", width=80),
            "rejected": count_column("Rejected", width=80),
            "failed": count_column("Failed queries", width=105),
            "left": config.TextColumn("Time left", width=90),
            "created": config.TextColumn("Created", width=160),
            "by": config.TextColumn("By", width=110),
        },
        alt="Jobs",
    )
    if len(jobs) == MOST_JOBS:
        st.caption(f"The {MOST_JOBS} newest jobs.")


def _left(job: Job) -> str:
    """Time left, if a rate is measured and a worker runs."""
    if job.state != "running":
        return "-"
    if not job.workers:
        return "no worker"
    return duration_text(job.seconds_left) if job.seconds_left is not None else "-"


def _head(job: Job) -> None:
    icon, color = _STATES[job.state]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(job.state, icon=icon, color=color)  # type: ignore[arg-type]
        done = f"{job.covered:,} of {job.wanted:,} images"
        if job.seconds_left is not None:
            worker = "left" if job.workers else "left for one worker"
            done += f", about {duration_text(job.seconds_left)} {worker}"
        st.progress(job.progress, done)
        if may_edit():
            _controls(job)
    st.caption(f"How: {escape(job_form.describe(job.settings))}")
    for remark in job.remarks:
        st.text(remark)
    with st.container(horizontal=True):
        for state in QUERY_STATES:
            st.metric(f"Queries {state}", f"{job.queries[state]:,}")
        st.metric("Accepted", f"{job.accepted:,}")
        st.metric("Rejected", f"{job.rejected:,}")
        rate = job.seconds_per_image
        st.metric(
            "Seconds per image",
            f"{rate:.3g}" if rate is not None else "-",
            help="Of an accepted one; the time of rejected ones is in it.",
        )


def _controls(job: Job) -> None:
    if job.is_active:
        st.button("Cancel", key="_cancel_job", on_click=_do, args=(cancel_job, job.id))
    if job.state == "cancelled" and job.remaining:
        st.button(
            "Resume",
            key="_resume_job",
            on_click=_do,
            args=(retry_job, job.id),
            help="Go on with what is left.",
        )
    elif job.state == "failed" or job.queries["failed"]:
        st.button(
            "Retry failed",
            key="_retry_job",
            on_click=_do,
            args=(retry_job, job.id),
            help="Queue the failed queries again; what was accepted stays.",
        )
    if job.short:
        st.button(
            "Fill up",
            key="_fill_job",
            on_click=_do,
            args=(_fill_up, job.id),
            help=f"Queue {counted(job.short, 'queries')} again that lack accepted images.",
        )


def _fill_up(store: GraphStore, job: str) -> int:
    return retry_job(store, job, short=True)


def _do(change: Callable[[GraphStore, str], object], job: str) -> None:
    """Change a job in a button's callback, so that the page is drawn with its new state."""
    try:
        require_editor()
        change(session.store(), job)
    except CobalanceError as error:
        st.session_state[_PROBLEM] = error


def _queries(job: Job) -> None:
    state: QueryState | None = st.pills(
        "Queries", QUERY_STATES, key="query_state", bind="query-params"
    )
    total = job.queries[state] if state else sum(job.queries.values())
    pages = -(-total // PER_PAGE)
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
    config = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "number": frame["position"] + 1,
                "class": frame["class_name"],
                "concepts": frame["concepts"].map(list),
                "state": frame["state"],
                "progress": (100 * frame["accepted"] // frame["n"]).clip(upper=100),
                "n": frame["n"],
                "accepted": frame["accepted"],
                "rejected": frame["rejected"],
                "left": [
                    duration_text(seconds) if seconds == seconds else "-"
                    for seconds in frame["seconds_left"]
                ],
                "message": frame["message"],
            }
        ),
        hide_index=True,
        height=table_height(len(frame), 330),
        key="_queries_table",
        column_config={
            "number": config.NumberColumn("No.", width=50),
            "class": config.TextColumn("Class", width=90),
            "concepts": config.ListColumn("Concepts", width=220),
            "state": config.TextColumn("State", width=75),
            "progress": percent_column("Progress", 120),
            "n": count_column("Wanted", width=75),
            "accepted": count_column("Accepted", width=80),
            "rejected": count_column("Rejected", width=80),
            "left": config.TextColumn(
                "Time left", width=80, help="Of one worker, at the rate measured so far."
            ),
            "message": config.TextColumn("Message", width=200),
        },
        alt="Queries",
    )
    if pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pagination(pages, key="queries_page", bind="query-params", width=320)
            st.caption(counted(total, "queries"))
