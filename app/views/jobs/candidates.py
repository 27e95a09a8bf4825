"""Review a job's candidates beside their originals and masks."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from app.views.components.shown_images import image_files
from app.views.jobs.cards import PROBLEM, by_whom, decide_by_hand, draw_badge, said_of
from app.views.jobs.words import words_of
from app.views.state import session
from app.views.state.access import may_edit
from app.views.state.refreshing import refreshing
from app.views.state.url import choice_in_url, in_url, number_in_url
from app.views.widgets.messages import errors_in_fragment, show_kept_error
from app.views.widgets.tables import grid
from app.views.widgets.theme import escape, shorten
from generation.jobs.words import FilterWords
from graph.database.store import GraphStore
from graph.jobs.candidate_pages import Candidate, list_candidates, read_provenance
from graph.jobs.lifecycle import CandidateState
from graph.jobs.status import Job, read_queries

PER_PAGE = 8
COLUMNS = 2
THUMBNAIL_PX = 320
PROVENANCE_PX = 380
REFRESH_S = 4
MOST_QUERIES = 500  # to choose from

_VERDICTS: Mapping[str, CandidateState | None] = {
    "All": None,
    "Being compared": "pending",
    "Accepted": "accepted",
    "Rejected": "rejected",
}
_FIRST = ("problem", "prompt", "seed", "backend", "model", "revision", "weights_sha256")
_LAST = ("chunk", "settings", "software")


def show(job: Job) -> None:
    """Draw the candidates of a job, page by page; new ones join at the end while it runs."""
    refreshing(REFRESH_S if job.is_active else None)(_candidates)(job.id, words_of(job))


def _candidates(job: str, words: FilterWords) -> None:
    with errors_in_fragment():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            verdict = st.segmented_control(
                "Verdict", list(_VERDICTS), default="All", **choice_in_url("verdict"), required=True
            )
            query = choose_query(job)
        show_kept_error(PROBLEM)
        read = partial(
            list_candidates,
            session.store(),
            job,
            query=query,
            verdict=_VERDICTS[verdict],
            per_page=PER_PAGE,
        )
        found = read(page=st.session_state.get("candidates_page", 1))
        if found.total and not found.candidates:  # fewer than there were
            st.session_state["candidates_page"] = 1
            found = read()
        if not found.total:
            st.caption(
                "No candidate yet. They appear here as a worker reports them."
                if verdict == "All"
                else "No candidate with this verdict."
            )
            return
        places = grid(len(found.candidates), COLUMNS)
        for place, candidate in zip(places, found.candidates, strict=True):
            with place.container(border=True, key=f"_card {candidate.id}"):
                _card(candidate, words)
        if found.total > PER_PAGE:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.pagination(-(-found.total // PER_PAGE), **number_in_url("candidates_page"))
                st.caption(f"{found.total:,} candidates")


def choose_query(job: str) -> str | None:
    """Draw the choice of a query; None for all."""
    queries = read_queries(session.store(), job, limit=MOST_QUERIES)
    columns = ("id", "position", "class_name", "concepts", "source_image")
    rows = zip(*(queries[name].tolist() for name in columns), strict=True)
    labels = {
        name: f"{position + 1}. {asked_for(class_name, concepts, source_image)}"
        for name, position, class_name, concepts, source_image in rows
    }
    if st.session_state.get("query") not in (None, *labels):
        del st.session_state["query"]  # of another job
    chosen: str | None = st.selectbox(
        "Query",
        list(labels),
        index=None,
        format_func=lambda name: shorten(labels.get(name, ""), 80),
        **in_url("query"),
        placeholder="all",
        width=420,
    )
    return chosen


def asked_for(class_name: str, concepts: Sequence[str], source_image: str | None = None) -> str:
    """What a query asks for: a class with concepts, or an image edited to show a group."""
    if source_image:
        return f"{class_name} in {source_image}"
    return f"{class_name}: {' + '.join(concepts)}" if concepts else class_name


def _card(candidate: Candidate, words: FilterWords) -> None:
    files = image_files()
    for column, title, uri, absent in zip(
        st.columns(3, gap="small"),
        ("Candidate", "Original", "Mask"),
        (candidate.uri, candidate.source_uri, candidate.mask_uri),
        ("not kept", "none", "none"),
        strict=True,
    ):
        with column:
            if uri is None:
                st.caption(f"{title}: {absent}")
                continue
            picture = files.thumbnail(uri, THUMBNAIL_PX)
            st.image(picture.data, width="stretch", alt=title)
            problem = "" if picture.problem is None else f": {escape(picture.problem)}"
            st.caption(title + problem)
    accepted = candidate.verdict == "accepted"
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_badge(candidate.verdict)
        st.caption(by_whom(candidate))
        st.space("stretch")
        _provenance(candidate)
        if may_edit():
            st.button(
                "Reject" if accepted else "Accept",
                key=f"_decide {candidate.id}",
                on_click=decide_by_hand,
                args=(candidate.id, "rejected" if accepted else "accepted"),
            )
    if candidate.reason:
        st.text(candidate.reason)
    asked = asked_for(candidate.class_name, candidate.concepts)
    st.caption(escape(" · ".join([asked, *said_of(candidate, words)])))


def _provenance(candidate: Candidate) -> None:
    """Draw a popover with the provenance of a candidate, read when it is opened."""
    popover = st.popover(
        "Provenance", key=f"_provenance {candidate.id}", on_change="rerun", wrap=False
    )
    if not popover.open:
        return
    with popover:
        # As text: a browser's own numbers would round the seed.
        text = json.dumps(provenance_of(session.store(), candidate), indent=2, ensure_ascii=False)
        st.code(text, language="json", height=PROVENANCE_PX)


def provenance_of(store: GraphStore, candidate: Candidate) -> dict[str, Any]:
    """Provenance of a candidate: the most wanted fields first, unknown ones left out."""
    known: dict[str, Any] = {
        "candidate": candidate.id,
        "class": candidate.class_name,
        "concepts": list(candidate.concepts),
        "seed": candidate.seed,
        "source_image": candidate.source_image,
        "seconds": candidate.seconds,
        "created_at": candidate.created_at and candidate.created_at.isoformat(timespec="seconds"),
        "file": candidate.uri,
    }
    made = read_provenance(store, candidate.id)
    found = {name: value for name, value in (made | known).items() if value is not None}
    names = [*_FIRST, *(name for name in found if name not in (*_FIRST, *_LAST)), *_LAST]
    return {name: found[name] for name in names if name in found}
