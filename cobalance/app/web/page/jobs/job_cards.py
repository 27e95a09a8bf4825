"""Candidates and edited images in words and pictures: verdicts, ranks, scores of filters."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import draw_one, image_files
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.state import session
from cobalance.app.web.widgets import escape, grid, shorten, unless_empty
from cobalance.base import inflect, join_names
from cobalance.generation import FilterWords
from cobalance.graph import Candidate, CandidateState, EditedGroup, EditedImage, Job, count_edited

MASK_EDGE = "#E69F00"
_MOST = 60  # characters of a name

_BADGES: Mapping[CandidateState, tuple[str, str, str]] = {
    "pending": ("being compared", ":material/hourglass_empty:", "gray"),
    "accepted": ("accepted", ":material/check:", "green"),
    "rejected": ("rejected", ":material/close:", "red"),
}


def draw_badge(verdict: CandidateState) -> None:
    """Draw a candidate's verdict; one that waits for the others is being compared."""
    label, icon, color = _BADGES[verdict]
    st.badge(label, color=color, icon=icon)  # type: ignore[arg-type]


def draw_original(image: EditedImage, row_px: int, columns: int) -> list[DeltaGenerator]:
    """Draw an edited image's name, and the original with the outline of the painted region.

    Returns the places beside the original, one for each group; so many `columns` are side by side.
    """

    def picture(size_px: int) -> Picture:
        return image_files().with_mask(image.uri, image.mask_uri, MASK_EDGE, size_px)

    concepts = " + ".join(image.concepts)
    suffix = unless_empty(" · {}", escape(shorten(concepts, _MOST)))
    st.markdown(f"**{escape(shorten(image.source_image, _MOST))}**{suffix}")

    places = grid(1 + len(image.groups), columns)
    with places[0]:
        st.markdown("Edited")
        name = f"Original: {image.source_image}"
        drawn = draw_one(name, name, concepts, row_px, picture)
        caption = "Original"
        if image.mask_uri:
            caption += ", what is painted outlined"
        if drawn.problem is not None:
            caption += f": {escape(drawn.problem)}"
        st.caption(caption)
    return places[1:]


def draw_picture(candidate: Candidate, row_px: int, place: str, caption: str) -> None:
    """Draw a candidate's picture, or a caption where its file was not kept.

    `place` tells it from the same candidate elsewhere on the page; `caption` is what is known of
    it, for the lightbox.
    """
    if (uri := candidate.uri) is None:
        st.caption("Its file was not kept.")
        return

    drawn = draw_one(
        f"{place} {candidate.id}",
        f"{describe_picture(candidate)}: {candidate.verdict}",
        caption,
        row_px,
        lambda size_px: image_files().thumbnail(uri, size_px),
    )
    if drawn.problem is not None:
        st.caption(escape(drawn.problem))


def draw_judged(
    candidate: Candidate, group: EditedGroup, row_px: int, place: str, words: FilterWords
) -> None:
    """Draw a candidate as `draw_picture`, with its verdict, who gave it, rank and scores."""
    caption = describe_rank(candidate, group, words)
    draw_picture(candidate, row_px, place, caption)
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_badge(candidate.verdict)
        st.caption(escape(by_whom(candidate)))
    st.caption(escape(caption))


def draw_group(group: EditedGroup, row_px: int, words: FilterWords) -> Candidate | None:
    """Draw the name of a group and its chosen candidate; return that, or None."""
    st.markdown(f"**{escape(shorten(group.class_name, _MOST))}**")
    chosen = next(iter(group.chosen), None)
    if chosen is not None:
        draw_judged(chosen, group, row_px, "Chosen:", words)
    elif group.pending:
        draw_badge("pending")
        so_far = inflect(group.pending, "candidates")
        st.caption(f"{so_far} so far. The best is chosen once all are made.")
    elif group.made:
        st.caption("None is chosen.")
    else:
        st.caption("None was made yet.")

    if group.message:
        st.text(group.message)
    if group.dropped:
        others = f"{group.dropped:,} other candidates were"
        if group.dropped == 1:
            others = "One other candidate was"
        st.caption(f"{others} not kept; the manifest of the job has their scores and ranks.")
    return chosen


def describe_request(
    class_name: str, concepts: Sequence[str], source_image: str | None = None
) -> str:
    """Describe the request of a query: a class and concepts, or an image and the new group."""
    if source_image:
        return f"{class_name} in {source_image}"
    return class_name + unless_empty(": {}", " + ".join(concepts))


def describe_picture(candidate: Candidate) -> str:
    """Alternative text of a candidate's picture."""
    concepts = unless_empty("{} in ", join_names(candidate.concepts))
    return f"Candidate for {concepts}{candidate.class_name}"


def describe_rank(candidate: Candidate, group: EditedGroup, words: FilterWords) -> str:
    """Describe a candidate's rank and scores in a line."""
    rank, scores = rank_text(candidate, group), describe_scores(candidate, words)

    # The reason why a candidate lost begins with its rank.
    if any(text.startswith(f"{rank}:") for text in scores):
        return " · ".join(scores)
    return " · ".join([rank, *scores])


def describe_scores(candidate: Candidate, words: FilterWords) -> list[str]:
    """Describe a candidate's scores, and of an accepted one the content no filter looked for."""
    scores = words.say(candidate.scores, candidate.concepts, candidate.class_name, candidate.reason)
    missing = words.not_looked_for(candidate.concepts, candidate.class_name)

    # A person who accepts a candidate has looked.
    if missing and candidate.verdict == "accepted" and candidate.decided_by is None:
        return [f"nothing looked for {missing}", *scores]
    return scores


def rank_text(candidate: Candidate, group: EditedGroup) -> str:
    """The rank of a candidate; of how many is known where all are kept."""
    if candidate.rank is None:
        return "Not ranked"
    if group.dropped:
        return f"Rank {candidate.rank}"
    return f"Rank {candidate.rank} of {group.ranked:,}"


def by_whom(candidate: Candidate) -> str:
    """Who gave a candidate its verdict."""
    if candidate.decided_by:
        return f"by {candidate.decided_by}"

    # Empty for a person without a login, None for the filters and the ranking.
    if candidate.decided_by is not None:
        return "by hand"
    if candidate.rank is None:
        return "by the filters"
    return "by its rank"


def count_edited_of(job: Job) -> int:
    """Number of images that a job edits, cached once the job is written."""
    if job.state == "preparing":
        return count_edited(session.store(), job.id)
    return _count_edited_once(job.id)


def filter_words(job: Job) -> FilterWords:
    """Names of the scores of a job's filters, cached."""
    return _words(count_edited_of(job) > 0, job.settings)


@st.cache_data(show_spinner=False, max_entries=256)
def _count_edited_once(job: str) -> int:
    return count_edited(session.store(), job)


@st.cache_resource(show_spinner=False, max_entries=256)
def _words(edits: bool, settings: Mapping[str, Any]) -> FilterWords:
    return FilterWords(settings, edits=edits)
