"""Review candidates by keyboard, a page of them at a time: accept, reject, undo, go on."""

from functools import partial

import streamlit as st

from app.image_grid.component import GridImage, OpenedImage
from app.image_grid.review import Decision, ReviewImage, decisions, review_grid
from app.pictures.thumbnails import Picture
from app.views.components.shown_images import LIGHTBOX_PX, OPENED, THUMBNAIL_PX, image_files
from app.views.jobs.candidates import asked_for, choose_query
from app.views.jobs.cards import MASK_EDGE, PROBLEM, by_whom, kept, said_of
from app.views.jobs.words import words_of
from app.views.state import session, url
from app.views.state.refreshing import refreshing
from app.views.state.url import MOST_NUMBER, in_url
from app.views.widgets.messages import errors_in_fragment, show_kept_error
from generation.jobs.words import FilterWords
from graph.jobs.candidate_pages import Candidate, count_decided, list_candidates
from graph.jobs.candidates import QueryDecisions, decide, read_decisions, restore_decisions
from graph.jobs.lifecycle import Verdict
from graph.jobs.status import Job

PER_PAGE = 40
MOST_UNDONE = 200
ROW_PX = 110
_GRID = "_review_grid"
_PAGE = "review_page"
_AT = "_review_at"  # the job and the page of it
_ORIGINALS, _MASKS = "originals", "masks"
_DONE = "_review_grid_done"
_KEYS = (
    "**A** accept · **R** reject · **U** undo · arrows move, with Shift they select, as the space "
    "bar does · **Enter** opens · **O** originals · **M** masks · **N** next"
)

Step = tuple[tuple[QueryDecisions, QueryDecisions], ...]
"""What one key has changed: the queries of its candidates before and after."""


def show(job: Job) -> None:
    """Draw a page of a job's candidates, to decide on by keys."""
    refreshing(None)(_review)(job.id, words_of(job))


def _review(job: str, words: FilterWords) -> None:
    with errors_in_fragment():
        for decision in decisions(_GRID, lambda id_: id_.startswith(f"{job}/")):
            _take(job, decision)
        show_kept_error(PROBLEM)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = choose_query(job)
            originals = st.toggle("Originals", **in_url(_ORIGINALS))
            masks = st.toggle("Masks", **in_url(_MASKS))
        read = partial(list_candidates, session.store(), job, query=query, per_page=PER_PAGE)
        page = _page(job)
        found = read(page=page)
        if found.total and not found.candidates:  # fewer than there were
            page = 1
            found = read()
        url.write(_PAGE, [str(page)])
        if not found.total:
            st.caption("No candidate yet.")
            return
        decided = count_decided(session.store(), job, query)
        st.progress(decided / found.total, f"{decided:,} of {found.total:,} decided by hand")
        pages = -(-found.total // PER_PAGE)
        if pages > 1:
            _choose_page(job, page, pages)
        st.caption(_KEYS)
        images = [_image(one, words, originals=originals) for one in found.candidates]
        review_grid(
            images,
            key=_GRID,
            label="Candidates",
            row_px=ROW_PX,
            overlay=masks,
            original=originals,
            opened=_opened(found.candidates, originals=originals),
            more=page < pages,
            on_open=lambda name: url.write(OPENED, [] if name is None else [name]),
            on_overlay=partial(_turn, _MASKS),
            on_original=partial(_turn, _ORIGINALS),
            on_end=partial(_go_to, job, page + 1),
        )


def _page(job: str) -> int:
    """The page that this session is on; of a link, or after Back, the one that the URL names.

    Keys turn pages while the browser still has, and sends, the address of the page before.
    """
    of, page = st.session_state.get(_AT, (None, 1))
    if of == job and not url.came_back():
        return int(page)
    text = next(iter(url.texts(_PAGE)), "1")
    page = int(text) if text.isdecimal() and 0 < int(text) <= MOST_NUMBER else 1
    _go_to(job, page)
    return page


def _go_to(job: str, page: int) -> None:
    st.session_state[_AT] = job, page


def _choose_page(job: str, page: int, pages: int) -> None:
    """Draw the way to the pages beside; without a widget's value, which a browser has too late."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, to in (("Previous page", page - 1), ("Next page", page + 1)):
            st.button(
                label,
                key=f"_review_to {label}",
                on_click=_go_to,
                args=(job, to),
                disabled=not 1 <= to <= pages,
            )
        st.markdown(f"Page {page:,} of {pages:,}", width="content")


def _turn(name: str, on: bool) -> None:
    st.session_state[name] = on


def _pictures(candidate: Candidate, size_px: int, *, originals: bool) -> tuple[Picture, Picture]:
    """A candidate or its original, and the same with the edge of what was painted."""
    files = image_files()
    uri = candidate.source_uri if originals else candidate.uri
    plain = files.thumbnail(uri, size_px)
    if candidate.mask_uri is None or plain.problem is not None:
        return plain, plain
    return plain, files.with_mask(uri, candidate.mask_uri, MASK_EDGE, size_px)


def _image(candidate: Candidate, words: FilterWords, *, originals: bool) -> ReviewImage:
    plain, drawn = _pictures(candidate, THUMBNAIL_PX, originals=originals)
    asked = asked_for(candidate.class_name, candidate.concepts)
    who = by_whom(candidate) if candidate.verdict != "pending" else "being compared"
    said = [asked, f"{candidate.verdict} {who}", candidate.reason]
    said += said_of(candidate, words)
    image = GridImage(candidate.id, asked, plain, drawn)
    return ReviewImage(image, candidate.verdict, " · ".join(filter(None, said)))


def _opened(candidates: tuple[Candidate, ...], *, originals: bool) -> OpenedImage | None:
    """The image in the lightbox."""
    wanted = url.texts(OPENED)
    for candidate in candidates:
        if candidate.id in wanted:
            plain, drawn = _pictures(candidate, LIGHTBOX_PX, originals=originals)
            asked = asked_for(candidate.class_name, candidate.concepts)
            return OpenedImage(candidate.id, asked, plain, drawn)
    return None


def _take(job: str, decision: Decision) -> None:
    """Write a decision into the graph, in the person's name, and remember how to take it back."""
    store = session.store()
    steps: list[tuple[str, Step]] = st.session_state.setdefault(_DONE, [])

    def change(by: str, verdict: Verdict) -> None:
        changed = []
        try:
            for candidate in decision.images:
                query = candidate.rpartition("/")[0]
                before = read_decisions(store, query)
                decide(store, candidate, verdict, by)
                changed.append((before, read_decisions(store, query)))
        finally:
            steps.append((job, tuple(changed)))
            del steps[:-MOST_UNDONE]

    def undo(_: str) -> None:
        of_job = [at for at, (of, _) in enumerate(steps) if of == job]
        if of_job:
            for before, after in reversed(steps.pop(of_job[-1])[1]):
                restore_decisions(store, before, after)

    if decision.act == "undo":
        kept(undo)
    else:
        kept(partial(change, verdict=decision.act))
