"""Grid of a job's candidates, with verdicts by key or button and details."""

import math
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from cobalance.app.web.browser.image_grid import GridImage
from cobalance.app.web.browser.review_grid import ReviewImage, Switch, decisions, review_grid
from cobalance.app.web.components import LIGHTBOX_PX, OPENED, THUMBNAIL_PX, image_files, open_image
from cobalance.app.web.page.jobs.deciding import decide_all, undo
from cobalance.app.web.page.jobs.job_cards import (
    MASK_EDGE,
    by_whom,
    describe_picture,
    describe_request,
    describe_scores,
    filter_words,
)
from cobalance.app.web.page.jobs.origin import draw_details
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.server.streamlit_internals import came_back
from cobalance.app.web.state import (
    MOST_NUMBER,
    choice_in_url,
    in_url,
    may_edit,
    refreshing_while,
    session,
    url,
)
from cobalance.app.web.widgets import (
    choose_one,
    errors_in_fragment,
    escape,
    shorten,
    show_kept_error,
)
from cobalance.generation import FilterWords
from cobalance.graph import (
    Candidate,
    CandidatePage,
    CandidateState,
    Job,
    count_decided,
    list_candidates,
    read_queries,
)

PER_PAGE = 40
ROW_PX = 110
REFRESH_S = 4
MOST_QUERIES = 500  # to choose from
GRID = "_candidates_grid"
_PAGE = "candidates_page"
_AT = "_candidates_at"  # the job and the page of it
_CHOSEN = "_candidates_chosen"  # what of a job is shown, and since when
_DETAILS = "details"  # the parameter of the URL with the candidate of which all is shown
_ORIGINALS, _MASKS = "originals", "masks"
_VERDICTS: dict[str, CandidateState | None] = {
    "All": None,
    "Being compared": "pending",
    "Accepted": "accepted",
    "Rejected": "rejected",
}
_KEYS = (
    "**A** accept · **R** reject · **U** undo · arrows move, with Shift they select, as the space "
    "bar does · **N** next · "
)
_LOOKS = "**Enter** or a click opens · **O** originals · **M** masks · **D** details"


def show(job: Job) -> None:
    """Draw a page of a job's candidates; new ones join at the end while it runs."""
    refreshing_while(job.is_active, REFRESH_S)(_candidates)(job, filter_words(job))


def _candidates(job: Job, words: FilterWords) -> None:
    """Draw the choice of candidates, their page, and all about the one that was asked for."""
    with errors_in_fragment():
        for decision in decisions(GRID, lambda candidate: candidate.startswith(f"{job.id}/")):
            if decision.act == "undo":
                undo(job.id)
            else:
                decide_all(job.id, decision.images, decision.act)
        show_kept_error()

        # Without labels above them, as the images come first.
        with st.container(horizontal=True, vertical_alignment="center"):
            verdict = st.segmented_control(
                "Verdict",
                list(_VERDICTS),
                default="All",
                **choice_in_url("verdict"),
                label_visibility="collapsed",
            )
            query = _choose_query(job.id)
            originals = st.toggle("Originals", **in_url(_ORIGINALS))
            masks = st.toggle("Masks", **in_url(_MASKS))
            decided = st.container(width=210)
        state = _VERDICTS[verdict or "All"]

        number, page = _read(job.id, query, state)
        if page.total:
            with decided:
                _draw_decided(job.id, query, state, page.total)
            _draw_page(job, page, number, words, originals=originals, masks=masks)
            _details(job, page.candidates, words)
        elif state is not None:
            st.caption("No candidate with this verdict.")
        else:
            st.caption("No candidate yet. They appear here as a worker reports them.")


def _draw_decided(job: str, query: str | None, state: CandidateState | None, n_shown: int) -> None:
    """Draw how many of all candidates people have decided on."""
    decided = count_decided(session.store(), job, query)
    total, suffix = n_shown, ""
    if state is not None:
        total = list_candidates(session.store(), job, query=query, per_page=1).total
        suffix = f" · {n_shown:,} shown"

    # A worker may report candidates, and a person decide on them, between the two counts.
    share = min(decided / total, 1.0)
    st.progress(share, f"{decided:,} of {total:,} decided by hand{suffix}")


def _draw_page(
    job: Job, page: CandidatePage, number: int, words: FilterWords, *, originals: bool, masks: bool
) -> None:
    """Draw a page of candidates as a grid, and the way to the pages beside."""
    pages = math.ceil(page.total / PER_PAGE)
    review_grid(
        [_image(candidate, words, originals=originals) for candidate in page.candidates],
        key=GRID,
        label="Candidates",
        row_px=ROW_PX,
        overlay=Switch(masks, partial(_turn, _MASKS)),
        original=Switch(originals, partial(_turn, _ORIGINALS)),
        decides=may_edit(),
        opened=_find_opened(page.candidates, words, originals=originals),
        more=number < pages,
        on_open=open_image,
        on_end=partial(_go_to, job.id, number + 1),
        on_details=lambda name: url.write(_DETAILS, [name]),
    )
    st.caption(_KEYS + _LOOKS if may_edit() else _LOOKS)
    if pages > 1:
        _choose_page(job.id, number, pages)


def _choose_query(job: str) -> str | None:
    """Draw the choice of a query; None for all."""
    queries = read_queries(session.store(), job, limit=MOST_QUERIES)
    labels = {}
    for query in queries.to_dict("records"):
        request = describe_request(query["class_name"], query["concepts"], query["source_image"])
        labels[query["id"]] = f"{query['position'] + 1}. {request}"

    def label(name: str) -> str:
        return shorten(labels.get(name, ""), 80)

    return choose_one(
        "Query",
        list(labels),
        "query",
        "Of all queries",
        format_func=label,
        width=230,
        label_visibility="collapsed",
    )


def _read(job: str, query: str | None, verdict: CandidateState | None) -> tuple[int, CandidatePage]:
    """The page that is shown, and its candidates: also those decided on since it was chosen."""
    previous, since = st.session_state.get(_CHOSEN, (None, None))
    chosen = job, query, verdict
    if previous != chosen:
        since = datetime.now(UTC)
        st.session_state[_CHOSEN] = chosen, since
        # At first the URL names the page.
        if previous is not None:
            _go_to(job, 1)

    read = partial(
        list_candidates,
        session.store(),
        job,
        query=query,
        verdict=verdict,
        decided_since=since,
        per_page=PER_PAGE,
    )
    number = _page(job)
    page = read(page=number)
    if page.total and not page.candidates:
        # There are fewer pages than there were, or than the link says.
        number = 1
        page = read()
    url.write(_PAGE, [] if number == 1 else [str(number)])
    return number, page


def _page(job: str) -> int:
    """The page that this session is on; of a link, or after Back, the one that the URL names.

    Keys turn pages while the browser still has, and sends, the URL of the page before.
    """
    drawn_job, page = st.session_state.get(_AT, (None, 1))
    if drawn_job == job and not came_back():
        return int(page)

    text = next(iter(url.texts(_PAGE)), "1")
    page = 1
    if text.isdecimal() and 0 < int(text) <= MOST_NUMBER:
        page = int(text)
    _go_to(job, page)
    return page


def _go_to(job: str, page: int) -> None:
    st.session_state[_AT] = job, page


def _choose_page(job: str, page: int, pages: int) -> None:
    """Draw the way to the pages beside; without a widget's value, which a browser has too late."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, target in (("Previous page", page - 1), ("Next page", page + 1)):
            st.button(
                label,
                key=f"_candidates_to {label}",
                on_click=_go_to,
                args=(job, target),
                disabled=not 1 <= target <= pages,
            )
        st.markdown(f"Page {page:,} of {pages:,}", width="content")


def _turn(name: str, on: bool) -> None:
    st.session_state[name] = on


def _pictures(
    candidate: Candidate, size_px: int, *, originals: bool
) -> tuple[Picture, Picture | None]:
    """A candidate or its original, plain and with the outline of the painted region."""
    files = image_files()
    uri = candidate.source_uri if originals else candidate.uri
    plain = files.thumbnail(uri, size_px)

    if candidate.mask_uri is None or plain.problem is not None:
        return plain, None
    return plain, files.with_mask(uri, candidate.mask_uri, MASK_EDGE, size_px)


def _image(candidate: Candidate, words: FilterWords, *, originals: bool) -> ReviewImage:
    plain, outlined = _pictures(candidate, THUMBNAIL_PX, originals=originals)
    text = describe_picture(candidate)
    if originals:
        text = f"Original of {text[0].lower()}{text[1:]}"
    image = GridImage(candidate.id, text, plain, outlined)
    return ReviewImage(image, candidate.verdict, _note(candidate, words, plain.problem))


def _note(candidate: Candidate, words: FilterWords, problem: str | None) -> str:
    """Describe a candidate in a line."""
    parts = [describe_request(candidate.class_name, candidate.concepts)]
    if candidate.verdict == "pending":
        parts.append("being compared")
    else:
        parts.append(f"{candidate.verdict} {by_whom(candidate)}")

    if candidate.uri is None:
        parts.append("its file was not kept")
    elif problem:
        parts.append(problem)
    return " · ".join([*parts, *describe_scores(candidate, words)])


def _find_opened(
    candidates: tuple[Candidate, ...], words: FilterWords, *, originals: bool
) -> GridImage | None:
    """The image in the lightbox."""
    for candidate in candidates:
        if candidate.id in url.texts(OPENED):
            plain, outlined = _pictures(candidate, LIGHTBOX_PX, originals=originals)
            return GridImage(candidate.id, _note(candidate, words, plain.problem), plain, outlined)
    return None


def _details(job: Job, candidates: tuple[Candidate, ...], words: FilterWords) -> None:
    """Draw all that is known of the candidate that was asked for."""
    for candidate in candidates:
        if candidate.id not in url.texts(_DETAILS):
            continue
        with st.container(border=True, key="_candidate"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**Details of {escape(candidate.id)}**")
                st.space("stretch")
                st.button(
                    "Close",
                    key="_candidate_close",
                    icon=":material/close:",
                    on_click=lambda: url.write(_DETAILS, []),
                )
            draw_details(job, candidate, words)
