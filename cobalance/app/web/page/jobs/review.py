"""Review edited images by keyboard, one at a time: choose, reject, accept, undo."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from cobalance.app.web.page.jobs.deciding import can_undo, decide_all, undo
from cobalance.app.web.page.jobs.edited_pairs import choose_start, go_to
from cobalance.app.web.page.jobs.job_cards import (
    count_edited_of,
    describe_rank,
    draw_badge,
    draw_group,
    draw_original,
    draw_picture,
    filter_words,
)
from cobalance.app.web.state import rerun_page, session
from cobalance.app.web.widgets import (
    KEPT_ERROR,
    button_type,
    errors_in_fragment,
    escape,
    grid,
    shorten,
    show_kept_error,
)
from cobalance.generation import FilterWords
from cobalance.graph import EditedGroup, EditedImage, Job, count_reviewed, find_edited, read_edited

KEYS = "123456789"
ARROWS = "review_arrows"  # hidden by page.css of `cobalance.app.web.server`
ROW_PX = 220
SMALL_ROW_PX = 76
COLUMNS = 5
_GROUP = "_review_group"


def show(job: Job) -> None:
    """Draw one image with its candidates, and the buttons with their keys."""
    n_queries, n_images = sum(job.queries.values()), count_edited_of(job)
    st.fragment(run_every=None)(_review)(job.id, n_queries, n_images, filter_words(job))


def _review(job: str, n_queries: int, n_images: int, words: FilterWords) -> None:
    """Draw the image of the chosen position, with the buttons, and the progress of the review."""
    with errors_in_fragment():
        store = session.store()
        show_kept_error()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            start = choose_start(n_queries)
            find = partial(find_edited, store, job, start, 2, queries=n_queries)
            following, preceding = find(), find(backwards=True)

            # Behind the last image it is the last one that is shown.
            here = next(iter(following or preceding), None)
            images = [] if here is None else read_edited(store, job, [here], most=len(KEYS))
            if here is None or not images:
                # The job went with its dataset.
                rerun_page()
                return

            image = images[0]
            group = _focused_group(image)
            back = next((position for position in preceding if position < here), None)
            on = next(iter(following[1:]), None)
            _buttons(job, image, group, back, on)
            n_reviewed = count_reviewed(store, job)
            st.button(
                "Next unreviewed",
                key="_review_n",
                on_click=_go_to_unreviewed,
                args=(job, here, n_queries),
                shortcut="n",
                help="The next image that nobody has decided on, for each group; after the last "
                "one, from the first on.",
                disabled=n_reviewed >= n_images,
            )
        share = n_reviewed / max(n_images, 1)
        st.progress(share, f"{n_reviewed:,} of {n_images:,} reviewed")

        places = draw_original(image, ROW_PX, min(COLUMNS, max(3, 1 + len(image.groups))))
        for place, image_group in zip(places, image.groups, strict=True):
            with place:
                draw_group(image_group, ROW_PX, words)
        _candidates(job, image, group, words)


def _focused_group(image: EditedImage) -> EditedGroup:
    """The group that the keys are about: the one that was chosen, or the first."""
    focused = st.session_state.get(_GROUP)
    named = (group for group in image.groups if group.class_name == focused)
    return next(named, image.groups[0])


def _go_to_unreviewed(job: str, here: int, n_queries: int) -> None:
    """Go to the first unreviewed image behind this one, or else to the first of all."""
    for start in (here + 1, 0):
        positions = find_edited(session.store(), job, start, 1, queries=n_queries, unreviewed=True)
        if positions:
            go_to(positions[0])
            return
    st.toast("No image is left to review.")


def _buttons(
    job: str, image: EditedImage, group: EditedGroup, back: int | None, on: int | None
) -> None:
    """Draw the buttons that step and decide; `back` and `on` are the positions beside."""

    def button(
        label: str, key: str, act: Callable[[], None], help_: str, *, off: bool = False
    ) -> None:
        st.button(label, key=f"_review_{key}", on_click=act, shortcut=key, help=help_, disabled=off)

    steps = (
        ("Previous", "k", "left", back, "The image before; ← does the same."),
        ("Next", "j", "right", on, "The image after; → does the same."),
    )
    for label, key, _, target, help_ in steps:
        button(label, key, partial(go_to, target or 0), help_, off=target is None)

    # Buttons of their own for the arrows: a button has one key.
    with st.container(key=ARROWS):
        for label, _, arrow, target, help_ in steps:
            button(label, arrow, partial(go_to, target or 0), help_, off=target is None)

    button(
        "Accept",
        "a",
        lambda: _accept(job, image, on),
        "What is chosen for every group is right: go on.",
        off=not _chosen(image),
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

    drawn = group.candidates[: len(KEYS)]
    n_stored = group.made - group.dropped
    if len(drawn) < n_stored:
        st.caption(f"{len(drawn)} of {n_stored:,}; all are in “Images side by side”.")

    places = grid(len(drawn), len(KEYS), gap="small")
    for place, key, candidate in zip(places, KEYS, drawn, strict=False):
        rank = describe_rank(candidate, group, words)
        with place:
            draw_picture(candidate, SMALL_ROW_PX, f"{key}:", rank)
            st.button(
                "Choose",
                key=f"_review_{key}",
                on_click=decide_all,
                args=(job, [candidate.id], "accepted", image.position),
                shortcut=key,
                disabled=candidate.uri is None,
                type=button_type(candidate.verdict == "accepted"),
                width="stretch",
            )
            draw_badge(candidate.verdict)
            st.caption(escape(rank))


def _chosen(image: EditedImage) -> list[str]:
    """The candidates that are chosen for an image's groups."""
    return [candidate.id for group in image.groups for candidate in group.chosen]


def _accept(job: str, image: EditedImage, on: int | None) -> None:
    """Accept the chosen candidates of all groups, and go on to the next image."""
    decide_all(job, _chosen(image), "accepted", image.position)

    # After an error the image stays, as nothing was decided.
    if on is not None and KEPT_ERROR not in st.session_state:
        go_to(on)


def _undo(job: str) -> None:
    """Undo the last key, and go back to its image."""
    if (place := undo(job)) is not None:
        go_to(place)


def _next_group(image: EditedImage, group: EditedGroup) -> None:
    names = [image_group.class_name for image_group in image.groups]
    st.session_state[_GROUP] = names[(names.index(group.class_name) + 1) % len(names)]
