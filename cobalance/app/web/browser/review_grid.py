"""The review grid as a Streamlit component: images that are accepted and rejected by keys.

The browser draws each decision at once, and reports all that the page has not taken over yet, so
that keys may come faster than answers. What it reports is not trusted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

import streamlit as st

from cobalance.app.web.browser.browser_part import draw_part, no_callback
from cobalance.app.web.browser.image_grid import GridImage, grid_data, opening, switching

Act = Literal["accepted", "rejected", "undo"]
ACTS: tuple[Act, ...] = ("accepted", "rejected", "undo")


@dataclass(frozen=True)
class Decision:
    """A decision on images, or the undoing of the one before."""

    act: Act
    images: tuple[str, ...]


@dataclass(frozen=True)
class ReviewImage:
    """An image to decide on, drawn with the outline of the painted part.

    Its verdict is ``accepted``, ``rejected`` or ``pending``.
    """

    image: GridImage
    verdict: str
    note: str


@dataclass(frozen=True)
class Switch:
    """A switch: its state, and a callback that takes the new one."""

    is_on: bool
    turn: Callable[[bool], None]


def review_grid(
    images: Sequence[ReviewImage],
    *,
    key: str,
    label: str,
    row_px: int,
    overlay: Switch,
    original: Switch,
    decides: bool,
    opened: GridImage | None,
    more: bool,
    on_open: Callable[[str | None], None],
    on_end: Callable[[], None],
    on_details: Callable[[str], None],
) -> None:
    """Draw images to decide on; `decisions` returns the decisions in the next run.

    A accepts, R or X rejects, the arrow keys move, with Shift they select, as the space bar does,
    U takes back, N goes on, Enter opens an image, O shows the originals, M outlines, D asks for
    details. Buttons do the same.

    Parameters
    ----------
    overlay, original : Switch
        Whether outlines are drawn, and the originals shown in place of the images.
    decides : bool
        Whether the person may decide.
    more : bool
        Whether a page follows.
    on_end : callable
        Called when the person goes on behind the last image.
    on_details : callable
        Takes the id of the image of which the person wants to know all.
    key, label, row_px, opened, on_open
        As of `image_grid`.
    """
    listed = [reviewed.image for reviewed in images]
    data = grid_data(
        listed, key=key, label=label, row_px=row_px, overlay=overlay.is_on, opened=opened
    )
    name, number = st.session_state.get(_taken_key(key), ("", 0))

    def take_end() -> None:
        # A report of another page would turn this one, too.
        after = (st.session_state.get(key, {}).get("page") or {}).get("after")
        if listed and after == listed[-1].id:
            on_end()

    def take_details() -> None:
        id_ = (st.session_state.get(key, {}).get("details") or {}).get("id")
        if isinstance(id_, str) and any(image.id == id_ for image in listed):
            on_details(id_)

    data |= {
        "verdicts": {reviewed.image.id: reviewed.verdict for reviewed in images},
        "notes": {reviewed.image.id: reviewed.note for reviewed in images},
        "taken": {"name": name, "number": number},
        "original": original.is_on,
        "decides": decides,
        "more": more,
    }
    draw_part(
        "review_grid",
        key,
        data,
        on_asked_change=opening(key, listed, on_open),
        on_overlay_change=switching(key, "overlay", overlay.turn),
        on_original_change=switching(key, "original", original.turn),
        on_page_change=take_end,
        on_details_change=take_details,
        on_log_change=no_callback,
    )


def decisions(key: str, is_known: Callable[[str], bool]) -> list[Decision]:
    """Return a grid's decisions since the last call, in order, about the ids that are known.

    These need not be on the present page, which may have been turned since.
    """
    report = (st.session_state.get(key) or {}).get("log")
    before = st.session_state.get(_taken_key(key), ("", 0))
    taken_over, new = new_decisions(before, report, is_known)
    st.session_state[_taken_key(key)] = taken_over
    return new


def new_decisions(
    taken: tuple[str, int], report: object, is_known: Callable[[str], bool]
) -> tuple[tuple[str, int], list[Decision]]:
    """The decisions of a report that were not taken over yet.

    Parameters
    ----------
    taken : (str, int)
        The browser's log, and the number of its last entry that was taken over.
    report : object
        ``{"name": ..., "entries": [[number, act, ids], ...]}``, or anything: it is not trusted.
    is_known : callable
        Other ids are left out.

    Returns
    -------
    (str, int)
        As `taken`, with what is returned.
    list of Decision
        In the order of their numbers.

    Examples
    --------
    >>> report = {"name": "a", "entries": [[1, "undo", []], [2, "rejected", ["x", "y"]]]}
    >>> new_decisions(("a", 1), report, {"x"}.__contains__)
    (('a', 2), [Decision(act='rejected', images=('x',))])
    """
    match report:
        case {"name": str(name), "entries": list(entries)}:
            # A log of another name is a new one, which begins at 1.
            number = taken[1] if name == taken[0] else 0
        case _:
            return taken, []

    new = []
    for entry in sorted(filter(_is_entry, entries), key=itemgetter(0)):
        if entry[0] > number:
            number, act, ids = entry
            new.append(Decision(act, tuple(filter(is_known, ids))))
    return (name, number), new


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, Sequence)
        and len(entry) == 3
        and isinstance(entry[0], int)
        and entry[1] in ACTS
        and isinstance(entry[2], Sequence)
        and all(isinstance(id_, str) for id_ in entry[2])
    )


def _taken_key(key: str) -> str:
    return f"{key}.taken"
