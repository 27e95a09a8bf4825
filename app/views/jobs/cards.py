"""Pictures of edited images and their candidates, with verdicts, ranks and scores in words."""

from collections.abc import Callable, Mapping

import streamlit as st

from app.views.components.shown_images import image_files
from app.views.state import session
from app.views.state.access import require_editor, user
from app.views.widgets.messages import errors_kept
from app.views.widgets.theme import escape, shorten
from generation.jobs.words import FilterWords
from graph.jobs.candidate_pages import Candidate
from graph.jobs.candidates import decide
from graph.jobs.edited_images import EditedGroup, EditedImage
from graph.jobs.lifecycle import CandidateState, Verdict
from ingest.concepts.plurals import counted

PROBLEM = "_candidate_problem"
"""Where an error of `decide_by_hand` is kept until the page is drawn."""
MASK_EDGE = "#E69F00"
_MOST = 60  # characters of a name

_BADGES: Mapping[CandidateState, tuple[str, str, str]] = {
    "pending": ("being compared", ":material/hourglass_empty:", "gray"),
    "accepted": ("accepted", ":material/check:", "green"),
    "rejected": ("rejected", ":material/close:", "red"),
}


def draw_badge(verdict: CandidateState) -> None:
    """Draw a candidate's verdict; one that waits for the others is being compared."""
    said, icon, color = _BADGES[verdict]
    st.badge(said, color=color, icon=icon)  # type: ignore[arg-type]


def draw_source(image: EditedImage, size_px: int) -> None:
    """Draw the image that is edited, with the edge of what is painted anew."""
    picture = image_files().with_mask(image.uri, image.mask_uri, MASK_EDGE, size_px)
    st.image(picture.data, width="stretch", alt="Original")
    outlined = ", what is painted outlined" if image.mask_uri else ""
    problem = "" if picture.problem is None else f": {escape(picture.problem)}"
    st.caption(f"Original{outlined}{problem}")


def draw_picture(candidate: Candidate, size_px: int) -> None:
    """Draw a candidate's picture, or say that there is none."""
    if candidate.uri is None:
        st.caption("Its file was not kept.")
        return
    picture = image_files().thumbnail(candidate.uri, size_px)
    st.image(picture.data, width="stretch", alt="Candidate")
    if picture.problem is not None:
        st.caption(escape(picture.problem))


def draw_group(group: EditedGroup, size_px: int) -> Candidate | None:
    """Draw the name of a group and its chosen candidate; give that, None if there is none."""
    st.markdown(f"**{escape(shorten(group.class_name, _MOST))}**")
    chosen = group.chosen[0] if group.chosen else None
    if chosen is not None:
        draw_picture(chosen, size_px)
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_badge(chosen.verdict)
            st.caption(by_whom(chosen))
        st.caption(escape(standing(chosen, group)))
    elif group.pending:
        draw_badge("pending")
        said = counted(group.pending, "candidates")
        st.caption(f"{said} so far. The best is chosen once all are made.")
    elif group.made:
        st.caption("None is chosen.")
    else:
        st.caption("None was made yet.")
    if group.message:
        st.text(group.message)
    if group.dropped:
        others = "One other candidate was" if group.dropped == 1 else f"{group.dropped:,} other "
        others += "" if group.dropped == 1 else "candidates were"
        st.caption(f"{others} not kept; the manifest of the job has their scores and ranks.")
    return chosen


def title_of(image: EditedImage) -> str:
    """The image's id and concepts in Markdown."""
    concepts = " + ".join(image.concepts)
    said = f" · {escape(shorten(concepts, _MOST))}" if concepts else ""
    return f"**{escape(shorten(image.source_image, _MOST))}**{said}"


def standing(candidate: Candidate, group: EditedGroup) -> str:
    """A candidate's rank and scores in a line."""
    scores = [f"{name} {score:.3g}" for name, score in candidate.scores.items()]
    return " · ".join([rank_text(candidate, group), *scores])


def said_of(candidate: Candidate, words: FilterWords) -> list[str]:
    """What the filters say of a candidate, where no reason for a rejection says it."""
    if candidate.reason:
        return []
    return words.say(candidate.scores, candidate.concepts, candidate.class_name)


def rank_text(candidate: Candidate, group: EditedGroup) -> str:
    """The rank of a candidate; of how many is known where all are kept."""
    if candidate.rank is None:
        return "Not ranked"
    return f"Rank {candidate.rank}" + ("" if group.dropped else f" of {group.ranked:,}")


def by_whom(candidate: Candidate) -> str:
    """Who gave a candidate its verdict, in Markdown."""
    if candidate.decided_by is None:
        return "by the filters" if candidate.rank is None else "by its rank"
    return f"by {escape(candidate.decided_by)}" if candidate.decided_by else "by hand"


def decide_by_hand(candidate: str, verdict: Verdict) -> None:
    """Record a verdict in a button's callback, so that the page is drawn with it."""
    kept(lambda by: decide(session.store(), candidate, verdict, by))


def kept(change: Callable[[str], object]) -> None:
    """Change something in an editor's name; an error is kept as `PROBLEM`."""
    with errors_kept(PROBLEM):
        require_editor()
        known = user()
        change(known.name if known is not None else "")
