"""Review edited images by keyboard, one at a time: choose, reject, accept, undo."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from cobalance.app.web.jobs.deciding import can_undo, decide_all, undo
from cobalance.app.web.jobs.edited_pairs import choose_start, go_to
from cobalance.app.web.jobs.job_cards import (
    count_edited_of,
    describe_rank,
    draw_badge,
    draw_group,
    draw_original,
    draw_picture,
    filter_words,
)
from cobalance.app.web.state import session
from cobalance.app.web.state.refreshing import rerun_page
from cobalance.app.web.widgets.messages import KEPT_ERROR, errors_in_fragment, show_kept_error
from cobalance.app.web.widgets.tables import grid
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.generation.jobs.filter_words import FilterWords
from cobalance.graph.jobs.candidate_pages import (
    EditedGroup,
    EditedImage,
    count_reviewed,
    find_edited,
    read_edited,
)
from cobalance.graph.jobs.status import Job

KEYS = "123456789"
ARROWS = "review_arrows"  # hidden by page.css of `cobalance.app.web.server`
ROW_PX = 220
SMALL_ROW_PX = 76
COLUMNS = 5
_GROUP = "_review_group"


def show(job: Job) -> None:
    """Draw one image with its candidates, and the buttons with their keys."""
    st.fragment(run_every=None)(_review)(
        job.id, sum(job.queries.values()), count_edited_of(job), filter_words(job)
    )


def _review(job: str, queries: int, images: int, words: FilterWords) -> None:
    with errors_in_fragment():
        store = session.store()
        show_kept_error()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            start = choose_start(queries)
            found = find_edited(store, job, start, 2, queries=queries)
            before = find_edited(store, job, start, 2, queries=queries, backwards=True)
            here = next(iter(found or before), None)  # behind the last image it is that one
            if here is None:  # the job went with its dataset
                rerun_page()
                return
            back = next((position for position in before if position < here), None)
            on = found[1] if len(found) > 1 else None
            images_here = read_edited(store, job, [here], most=len(KEYS))
            if not images_here:
                rerun_page()
                return
            image = images_here[0]
            focused = st.session_state.get(_GROUP)
            named = (one for one in image.groups if one.class_name == focused)
            group = next(named, image.groups[0])  # that the keys are about
            reviewed = count_reviewed(store, job)
            _buttons(job, image, group, back, on)
            st.button(
                "Next unreviewed",
                key="_review_n",
                on_click=_go_to_unreviewed,
                args=(job, here, queries),
                shortcut="n",
                help="The next image that nobody has decided on, for each group; after the last "
                "one, from the first on.",
                disabled=reviewed >= images,
            )
        st.progress(reviewed / max(images, 1), f"{reviewed:,} of {images:,} reviewed")
        places = draw_original(image, ROW_PX, min(COLUMNS, max(3, 1 + len(image.groups))))
        for place, each in zip(places, image.groups, strict=True):
            with place:
                draw_group(each, ROW_PX, words)
        _candidates(job, image, group, words)


def _go_to_unreviewed(job: str, here: int, queries: int) -> None:
    """Go to the first unreviewed image behind this one, or else to the first of all."""
    for start in (here + 1, 0):
        found = find_edited(session.store(), job, start, 1, queries=queries, unreviewed=True)
        if found:
            go_to(found[0])
            return
    st.toast("No image is left to review.")


def _buttons(
    job: str, image: EditedImage, group: EditedGroup, back: int | None, on: int | None
) -> None:
    def button(
        label: str, key: str, act: Callable[[], None], help_: str, *, off: bool = False
    ) -> None:
        st.button(label, key=f"_review_{key}", on_click=act, shortcut=key, help=help_, disabled=off)

    chosen = [one for each in image.groups for one in each.chosen]
    steps = (
        ("Previous", "k", "left", back, "The image before; ← does the same."),
        ("Next", "j", "right", on, "The image after; → does the same."),
    )
    for label, key, _, to, help_ in steps:
        button(label, key, partial(go_to, to or 0), help_, off=to is None)
    with st.container(key=ARROWS):  # a button has one key
        for label, _, arrow, to, help_ in steps:
            button(label, arrow, partial(go_to, to or 0), help_, off=to is None)
    button(
        "Accept",
        "a",
        lambda: _accept(job, image, on),
        "What is chosen for every group is right: go on.",
        off=not chosen,
    )
    button(
        "Reject",
        "x",
        lambda: decide_all(job, [group.chosen[0].id], "rejected", image.position),
        "Reject what is chosen for the group that the candidates are of; the next by rank is then "
        "chosen.",
        off=not group.chosen,
    )
    button("Undo", "u", lambda: _undo(job), "Take the last key back.", off=not can_undo(job))
    if len(image.groups) > 1:
        button("Other group", "g", lambda: _next_group(image, group), "Candidates of the next one.")


def _candidates(job: str, image: EditedImage, group: EditedGroup, words: FilterWords) -> None:
    """Draw the candidates of the group, each with its key."""
    st.markdown(f"Candidates: **{escape(shorten(group.class_name, 60))}**")
    if not group.candidates:
        st.caption("None.")
        return
    shown = group.candidates[: len(KEYS)]
    if len(shown) < group.made - group.dropped:
        st.caption(
            f"{len(shown)} of {group.made - group.dropped:,}; all are in “Images side by side”."
        )
    for place, key, candidate in zip(
        grid(len(shown), len(KEYS), gap="small"), KEYS[: len(shown)], shown, strict=True
    ):
        with place:
            draw_picture(candidate, SMALL_ROW_PX, f"{key}:", describe_rank(candidate, group, words))
            st.button(
                "Choose",
                key=f"_review_{key}",
                on_click=decide_all,
                args=(job, [candidate.id], "accepted", image.position),
                shortcut=key,
                disabled=candidate.uri is None,
                type="primary" if candidate.verdict == "accepted" else "secondary",
                width="stretch",
            )
            draw_badge(candidate.verdict)
            st.caption(escape(describe_rank(candidate, group, words)))


def _accept(job: str, image: EditedImage, on: int | None) -> None:
    """Accept the chosen candidates of all groups, and go on to the next image."""
    chosen = [one.id for each in image.groups for one in each.chosen]
    decide_all(job, chosen, "accepted", image.position)
    if on is not None and KEPT_ERROR not in st.session_state:
        go_to(on)


def _undo(job: str) -> None:
    """Undo the last key, and go back to its image."""
    if (place := undo(job)) is not None:
        go_to(place)


def _next_group(image: EditedImage, group: EditedGroup) -> None:
    names = [each.class_name for each in image.groups]
    st.session_state[_GROUP] = names[(names.index(group.class_name) + 1) % len(names)]
