"""The queries of a job, folded: counts, acceptance, another recipe for the missing images."""

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

from cobalance.app.web.components import job_form
from cobalance.app.web.page.jobs.job_cards import filter_words
from cobalance.app.web.page.jobs.progress import (
    REFRESH_S,
    draw_remarks,
    duration_or_dash,
    find_job,
)
from cobalance.app.web.state import (
    in_url,
    may_edit,
    number_in_url,
    refreshing_while,
    session,
    user_name,
)
from cobalance.app.web.widgets import (
    count_column,
    draw_columns,
    edits,
    errors_in_fragment,
    escape,
    percent_column,
    text_column,
    unless_empty,
)
from cobalance.base import agree, inflect
from cobalance.generation import DEFAULT, RECIPES
from cobalance.graph import QUERY_STATES, Job, QueryState, read_queries
from cobalance.workflows import (
    acceptance_texts,
    add_acceptance,
    check_settings,
    reorder_short,
    settings_to_reuse,
)

PER_PAGE = 50


def draw_queries(dataset: str, job: Job, draw_more: Callable[[], None]) -> None:
    """Draw a note about missing filters and, folded, the queries of a job.

    `draw_more` draws what else belongs to the queries.
    """
    if (warning := _looks(job)) is not None:
        st.caption(warning)
    if job.state == "done":
        draw_remarks(job)

    n_queries = sum(job.queries.values())
    label = agree(n_queries, "The query", f"All {n_queries:,} queries")
    with st.expander(label, key="_all_queries"):
        # Seldom in one run with what is in sight, which asks for the whole page only when alone.
        refreshing_while(job.is_active, 3.5 * REFRESH_S)(_draw_job)(dataset, job.id)
        draw_more()


def _draw_job(dataset: str, chosen: str) -> None:
    """Draw how a job is made, its counts, and a page of its queries."""
    with errors_in_fragment():
        job = find_job(dataset, chosen)
        if job is not None:
            by = unless_empty(" Ordered by {}.", escape(job.created_by))
            st.caption(f"How: {escape(job_form.describe(job.settings))}.{by}")
            _draw_counts(job)
            _queries(job)
            if job.short and may_edit():
                _draw_reorder(job)


def _draw_counts(job: Job) -> None:
    """Draw a job's queries by state, its candidates by verdict, and the time of an image."""
    with st.container(horizontal=True):
        for state in QUERY_STATES:
            st.metric(f"Queries {state}", f"{job.queries[state]:,}")
        st.metric("Accepted", f"{job.accepted:,}")
        st.metric("Rejected", f"{job.rejected:,}")
        if job.pending:
            st.metric("Pending", f"{job.pending:,}", help="Until the best of them are chosen.")

        rate = job.accepted_per_second
        st.metric(
            "Accepted a second",
            "-" if rate is None else f"{rate:.3g}",
            help="Images a second of a worker's time; the time of rejected ones is in it, and that "
            "of all the candidates of which the best is chosen.",
        )
        if job.accepted_per_money is not None:
            st.metric(
                "Accepted for a unit of money",
                f"{job.accepted_per_money:.3g}",
                help="By the prices that the job was ordered with.",
            )
        if job.candidates_left is not None:
            likely, low, high = job.candidates_left
            st.metric(
                "Candidates still to make",
                f"{likely:,}",
                help=f"From {low:,} to {high:,}, as the acceptance was when this round began.",
            )
        if job.cost_left is not None:
            st.metric("Cost still to come", f"{job.cost_left:,.2f}")


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


def _draw_reorder(job: Job) -> None:
    """Draw the order of the missing images with another recipe."""
    recipe = str(job.settings.get("recipe", DEFAULT))
    # The recipe may be of a plug-in that is no longer installed.
    if recipe not in RECIPES:
        return
    is_edit = RECIPES[recipe].plan is not None
    names = [name for name, other in RECIPES.items() if (other.plan is not None) == is_edit]

    def reorder() -> None:
        checked = check_settings(settings_to_reuse(job, st.session_state["_reorder_recipe"]))
        places = session.image_roots(job.dataset)
        reorder_short(session.store(), job.id, checked, places=places, created_by=user_name())

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Make what queries gave up with", names, key="_reorder_recipe", width=260)
        st.button(
            "Order",
            key="_reorder_job",
            on_click=edits(reorder),
            help="A new job makes these images, and this one does without them. For other sources "
            "and settings: `cobalance jobs reorder`.",
        )


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

    _draw_query_table(add_acceptance(job, frame))
    if pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pagination(pages, **number_in_url("queries_page"), width=320)
            st.caption(inflect(total, "queries"))


def _draw_query_table(frame: pd.DataFrame) -> None:
    """Draw a row for each query; with the image where any of them edits one."""
    # A query that was dropped wants no image.
    share = (100 * frame["accepted"] // frame["n"].clip(lower=1)).clip(upper=100)
    time_left = list(map(duration_or_dash, frame["seconds_left"]))
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
        "acceptance": (
            acceptance_texts(frame),
            text_column("Acceptance", width=105, help="Of the candidates, with its 95% interval."),
        ),
        "left": (time_left, text_column("Time left", width=80, help=help_left)),
        "message": (frame["message"], text_column("Message", width=200)),
    }
    if frame["source_image"].isna().all():
        del columns["image"]
    draw_columns(columns, 330, key="_queries_table", alt="Queries")
