"""Page Make: a job's images to review and to use, and its progress query by query."""

import streamlit as st

from cobalance.app.web.components import draw_workers
from cobalance.app.web.page.jobs import candidates, edited_pairs, results, review
from cobalance.app.web.page.jobs.job_cards import count_edited_of
from cobalance.app.web.page.jobs.progress import (
    MOST_LISTED,
    draw_progress,
    draw_tasks,
    facts_of,
)
from cobalance.app.web.page.jobs.queries import draw_queries
from cobalance.app.web.state import CurrentDataset, id_in_url, may_edit, session, url
from cobalance.app.web.widgets import (
    Page,
    choose_view,
    download,
    empty_state,
    shorten,
    unless_empty,
)
from cobalance.generation import Plan, PlanOptions, plan_to_json
from cobalance.graph import Job, list_jobs, read_query_progress

SIDE_BY_SIDE, REVIEW, ALL = "Images side by side", "Review by keyboard", "All candidates"
_VIEW = "images_view"


def page() -> None:
    """Draw the page: a line on the chosen job, then its images, and the queries folded."""
    current = session.current()
    jobs = list_jobs(current.store, current.name, limit=MOST_LISTED)
    if not jobs:
        _show_no_job(current)
        return

    jobs_by_id = {job.id: job for job in jobs}
    titles = {job.id: _title(job) for job in jobs}
    # Columns of fixed widths: nothing moves as the buttons come.
    choice, progress, actions = st.columns([26, 42, 42], vertical_alignment="center")
    ids = list(titles)
    with choice:
        job_id = st.selectbox(
            "Job",
            ids,
            format_func=lambda job: titles.get(job, job),
            **id_in_url("job", ids, first=ids[0]),
            label_visibility="collapsed",
        )
        job = jobs_by_id[job_id]
    with progress:
        draw_progress(current.name, job.id, facts_of(job))

    # A review by keyboard has the page to itself.
    if _is_review(job):
        _show_images(job)
        return

    # What a job waits for comes before its images; a job that has ended needs no worker.
    if job.is_active:
        draw_workers()
    results.show(current, job, actions)
    _show_images(job)
    results.draw_rebalanced(job)
    draw_queries(current.name, job, lambda: _download(current, job))
    if not job.is_active:
        draw_workers()
    draw_tasks(current.name)


PAGE = Page(
    "Make",
    "jobs",
    ":material/bolt:",
    page,
    words=("job", "task", "worker", "recipe", "segmenter", "candidate", "verdict"),
)


def _show_no_job(current: CurrentDataset) -> None:
    draw_workers()
    draw_tasks(current.name)
    if empty_state(
        "No job yet",
        "A job makes the images of a plan. Create one on the **Plan** page.",
        icon=":material/bolt:",
        action=("Go to Plan", "_jobs_to_plan"),
    ):
        url.go_to("plan")


def _title(job: Job) -> str:
    """Title of a job, unique in its dataset, for the choice and in words that a URL can have."""
    day = unless_empty(" of {:%d %b %Y}", job.created_at)
    return f"{shorten(job.plan, 40)} {job.id[:6]}{day}"


def _download(current: CurrentDataset, job: Job) -> None:
    """Draw the download of a job's queries as a plan file."""

    def plan() -> bytes:
        queries = tuple(
            query.to_plan(query.n)
            for query in read_query_progress(current.store, job.id)
            if query.n
        )

        # An edit is of an image and not of a clique: its concepts have no size.
        sizes = [len(query.concepts) for query in queries if query.edit is None]
        options = PlanOptions(min(sizes), max(sizes)) if sizes else PlanOptions()
        return plan_to_json(Plan(job.plan, options, queries))

    download(
        "Download the queries as JSON", plan, f"{current.name}-{job.plan}.json", key="_job_json"
    )


def _is_review(job: Job) -> bool:
    """Whether edited images are reviewed, for which the rest of the page makes room."""
    chosen = st.session_state.get(_VIEW, st.query_params.get(_VIEW))
    return chosen == REVIEW and may_edit() and count_edited_of(job) > 0


def _show_images(job: Job) -> None:
    """Draw a job's images in the way that is chosen."""
    if not count_edited_of(job):
        candidates.show(job)
        return

    views = {SIDE_BY_SIDE: edited_pairs.show, REVIEW: review.show, ALL: candidates.show}
    if not may_edit():
        del views[REVIEW]
    views[choose_view("Way to look at them", list(views), _VIEW)](job)
