"""Edited images side by side: the original and a candidate of each group."""

from functools import partial

import streamlit as st

from cobalance.app.web.page.jobs.deciding import decide_all
from cobalance.app.web.page.jobs.job_cards import (
    count_edited_of,
    draw_group,
    draw_judged,
    draw_original,
    filter_words,
)
from cobalance.app.web.state import may_edit, number_in_url, refreshing_while, session
from cobalance.app.web.widgets import errors_in_fragment, grid, show_kept_error
from cobalance.base import inflect
from cobalance.generation import FilterWords
from cobalance.graph import MOST_CANDIDATES, EditedGroup, EditedImage, Job, find_edited, read_edited

FROM = "from_query"  # the query parameter: the number of a query, from 1
PER_PAGE = 4
COLUMNS = 4
ROW_PX = 160
REFRESH_S = 4


def show(job: Job) -> None:
    """Draw the images a few at a time; more is made of them while the job runs."""
    refreshing_while(job.is_active, REFRESH_S)(_twins)(
        job.id, sum(job.queries.values()), filter_words(job)
    )
    st.caption(f"{inflect(count_edited_of(job), 'images')} edited.")


def _twins(job: str, n_queries: int, words: FilterWords) -> None:
    """Draw a page of edited images, each with a candidate of each group."""
    with errors_in_fragment():
        show_kept_error()
        controls = st.container(horizontal=True, vertical_alignment="bottom")
        with controls:
            start = choose_start(n_queries)

        # One more than are drawn tells whether there is a next page.
        find = partial(find_edited, session.store(), job, start, queries=n_queries)
        positions = find(PER_PAGE + 1) or find(1, backwards=True)
        with controls:
            first = next(iter(positions), 0)
            step_buttons(job, first, n_queries, positions[PER_PAGE:], PER_PAGE)

        for image in read_edited(session.store(), job, positions[:PER_PAGE]):
            with st.container(border=True, key=f"_twins {job} {image.position}"):
                _card(job, image, words)


def choose_start(n_queries: int) -> int:
    """Draw the number of the query to begin with; give its position."""
    number: int | None = st.number_input(
        "From query",
        1,
        max(n_queries, 1),
        **number_in_url(FROM),
        width=130,
        help="Its number in the list of queries, below.",
    )
    # A URL may leave the field empty.
    return (number or 1) - 1


def go_to(position: int) -> None:
    """Show the image of this position from the next run on."""
    st.session_state[FROM] = position + 1


def step_buttons(job: str, start: int, n_queries: int, following: list[int], step: int) -> None:
    """Draw the buttons to the previous and the next images."""

    def back() -> None:
        store = session.store()
        before = find_edited(store, job, start - 1, step, queries=n_queries, backwards=True)
        go_to(next(reversed(before), 0))

    st.button("Previous", key="_twins_back", on_click=back, disabled=start == 0)
    st.button(
        "Next", key="_twins_on", on_click=go_to, args=tuple(following[:1]), disabled=not following
    )


def _card(job: str, image: EditedImage, words: FilterWords) -> None:
    places = draw_original(image, ROW_PX, min(COLUMNS, 1 + len(image.groups)))
    for place, group in zip(places, image.groups, strict=True):
        with place:
            chosen = draw_group(group, ROW_PX, words)
            with st.container(horizontal=True):
                _others(job, image, group, words)
                if chosen is not None and may_edit():
                    st.button(
                        "Reject",
                        key=f"_reject {chosen.id}",
                        on_click=decide_all,
                        args=(job, [chosen.id], "rejected", image.position),
                        help="The next by rank is then chosen, if one is left.",
                    )


def _others(job: str, image: EditedImage, group: EditedGroup, words: FilterWords) -> None:
    """Draw a popover with the other candidates of a group, which are drawn when it is opened."""
    first_chosen = group.chosen[:1]
    others = [candidate for candidate in group.candidates if candidate not in first_chosen]
    if not others:
        return

    n_others = group.made - group.dropped - len(first_chosen)
    popover = st.popover(
        f"{n_others:,} more", key=f"_others {group.query}", on_change="rerun", wrap=False
    )
    if not popover.open:
        return

    with popover:
        if len(others) < n_others:
            st.caption(f"The best {MOST_CANDIDATES} of them.")
        for place, candidate in zip(grid(len(others), 3, gap="small"), others, strict=True):
            with place:
                draw_judged(candidate, group, ROW_PX, "Other:", words)
                if may_edit() and candidate.uri is not None:
                    st.button(
                        "Accept",
                        key=f"_accept {candidate.id}",
                        on_click=decide_all,
                        args=(job, [candidate.id], "accepted", image.position),
                        help="What was chosen before is then rejected.",
                    )
