"""Table editor of a plan's queries: change numbers, drop rows."""

import hashlib
import re
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import streamlit as st

from cobalance.app.web.components import disagreement_column
from cobalance.app.web.page.plan.choice import PlanRequest
from cobalance.app.web.state import number_in_url
from cobalance.app.web.widgets import count_column, table_height, text_column
from cobalance.base import IntArray
from cobalance.counting import Cliques
from cobalance.generation import PlannedImages
from cobalance.statistics import DISAGREEMENTS, disagreements, find_rows
from cobalance.workflows import DISAGREEMENT

ROWS = (200, 1000, 5000)
HEIGHT_PX = 470
# The most images of one query that can be typed.
_MOST_IMAGES = 10_000_000
_KEPT, _SEEN = "_plan_edits", "_plan_edits_seen"

# The query parameter, and how many characters of edits it may have.
EDITS = "edits"
MOST_IN_LINK = 2_000
_IN_LINK = re.compile(r"([0-9a-f]{8})((?:_[0-9]{1,12}-[0-9]{1,8})+)")


@dataclass
class Edits:
    """Changes to a plan by hand.

    Parameters
    ----------
    request : PlanRequest
        The plan's; with another one they are gone.
    images : dict of int to int
        Images of a query, which is known by its place in the flat array of all sets of concepts
        and classes; 0 for a dropped one.
    drawn_with : dict of int to int
        Those that were in the table when the browser got it. Later ones the browser has itself.
    """

    request: PlanRequest
    images: dict[int, int] = field(default_factory=dict)
    drawn_with: dict[int, int] = field(default_factory=dict)
    version: int = 0

    def apply(self, planned: IntArray) -> IntArray:
        """The planned images with the edits applied."""
        edited = planned.copy()
        for place, n in self.images.items():
            edited.flat[place] = n
        return edited


def edits_of(request: PlanRequest, planned: IntArray) -> Edits:
    """Edits for a request, from the URL or else from this session.

    What this session has written itself is no link: the browser may send an older URL while
    a newer one is on its way to it.
    """
    edits: Edits | None = st.session_state.get(_KEPT)
    version = edits.version + 1 if edits else 0
    if edits is None or edits.request != request:
        edits = Edits(request, version=version)

    text = st.query_params.get(EDITS, "")
    seen = st.session_state.setdefault(_SEEN, set())
    if text and text not in seen:
        seen.add(text)
        images = edits_from_text(text, planned)
        if images is None:
            st.info(
                "The changes by hand that this link names are of another plan, and left out.",
                icon=":material/link_off:",
            )
        else:
            edits = Edits(request, images, version=version)

    st.session_state[_KEPT] = edits
    return edits


def _write_link(edits: Edits, planned: IntArray) -> bool:
    """Put the edits into the URL; False if they are too many for it."""
    text = edits_to_text(edits.images, planned)
    fits = len(text) <= MOST_IN_LINK

    if text and fits:
        # Remembered as this session's own, so that it is not taken for a link.
        st.session_state[_SEEN].add(text)
        if st.query_params.get(EDITS) != text:
            st.query_params[EDITS] = text
    elif EDITS in st.query_params:
        del st.query_params[EDITS]

    return fits


def edits_to_text(images: dict[int, int], planned: IntArray) -> str:
    """Encode edits for the URL, tied to their plan; empty without edits.

    Examples
    --------
    >>> planned = np.array([[0, 3], [5, 3]])
    >>> edits_to_text({1: 20, 3: 0}, planned)
    '76f629b8_1-20_3-0'
    >>> edits_from_text(edits_to_text({1: 20, 3: 0}, planned), planned)
    {1: 20, 3: 0}
    """
    if not images:
        return ""
    pairs = (f"_{place}-{n}" for place, n in sorted(images.items()))
    return _digest(planned) + "".join(pairs)


def edits_from_text(text: str, planned: IntArray) -> dict[int, int] | None:
    """Decode the text of `edits_to_text`; None if it is malformed or of another plan."""
    match = _IN_LINK.fullmatch(text)
    if match is None or match[1] != _digest(planned):
        return None

    images = {}
    for pair in match[2][1:].split("_"):
        place, n = map(int, pair.split("-"))
        # Only a number of a planned query can be edited.
        if place >= planned.size or not planned.flat[place] or n > _MOST_IMAGES:
            return None
        images[place] = n

    return images


def _digest(planned: IntArray) -> str:
    shape = str(planned.shape).encode()
    content = planned.astype("<i8").tobytes()
    return hashlib.blake2b(content, digest_size=4, key=shape).hexdigest()


def forget_edits() -> None:
    """Drop all edits."""
    edits: Edits | None = st.session_state.get(_KEPT)
    if edits is not None:
        # A new version gives the table a new key: the browser has the old one's edits.
        st.session_state[_KEPT] = Edits(edits.request, version=edits.version + 1)


def largest_first(images: IntArray, rows: int) -> IntArray:
    """Places of the largest queries in the flat array of images; ties in their order.

    Examples
    --------
    >>> largest_first(np.array([[0, 3], [5, 3]]), 2).tolist()
    [2, 1]
    """
    flat = images.ravel()
    places = np.flatnonzero(flat)
    largest: IntArray = places[np.argsort(-flat[places], kind="stable")]
    return largest[:rows]


def query_frame(cliques: Cliques, planned: PlannedImages, places: IntArray) -> pd.DataFrame:
    """Some queries as a table, with where rates contradict counts; the index is their place.

    Queries of cliques have their gaps; those of whole images how many sources they have.
    """
    rows, codes = np.divmod(places, len(cliques.classes))
    names = planned.sets(cliques).take(rows).names()
    frame = pd.DataFrame(
        {
            "class": [cliques.classes[code] for code in codes.tolist()],
            "concepts": list(map(list, names)),
            "images": planned.images.ravel()[places],
        },
        index=pd.Index(places, name="place"),
    )
    if planned.sources is not None:
        return frame.assign(sources=(planned.sources[rows] >= 0).sum(axis=1))

    part = cliques.take(find_rows(cliques, list(map(tuple, names))))
    frame["gap"] = part.gaps()
    contradictions = disagreements(part.counts, part.class_sizes)
    if contradictions.any():
        frame[DISAGREEMENT] = [DISAGREEMENTS[code] for code in contradictions]
    return frame


def find_changes(before: pd.DataFrame, after: pd.DataFrame) -> dict[int, int]:
    """Differences between two tables of queries: images by place, 0 for a dropped row.

    Examples
    --------
    >>> before = pd.DataFrame({"images": [5, 3, 2]}, index=[10, 20, 30])
    >>> find_changes(before, before.assign(images=[5, 4, 2]).drop(30))
    {20: 4, 30: 0}
    """
    images = after["images"].reindex(before.index).fillna(0).astype("int64")
    changed = images[images != before["images"]]
    return dict(zip(changed.index.tolist(), changed.tolist(), strict=True))


def edit(cliques: Cliques, found: PlannedImages, request: PlanRequest, *, editable: bool) -> Edits:
    """Draw the queries of a plan, the largest first; return the edits."""
    planned = found.images
    edits = edits_of(request, planned)
    rows = st.session_state.get("plan_rows", ROWS[0])
    key = f"_plan_table {edits.version} {rows}"
    if key not in st.session_state:
        # The browser gets a table anew: all edits so far are in it.
        edits.drawn_with = dict(edits.images)

    images = Edits(request, edits.drawn_with).apply(planned)
    places = largest_first(images, rows)
    before = query_frame(cliques, replace(found, images=images), places)
    after = _draw_editor(before, key, editable=editable)

    # An edit back to the planned number is none.
    changes = edits.drawn_with | find_changes(before, after)
    edits.images = {place: n for place, n in changes.items() if n != int(planned.flat[place])}
    _below(planned, edits, len(before), in_link=_write_link(edits, planned))
    return edits


def _draw_editor(queries: pd.DataFrame, key: str, *, editable: bool) -> pd.DataFrame:
    """Draw the table, whose numbers can be changed and rows dropped; return it as edited."""
    # Of the columns only the number of images can be changed.
    return st.data_editor(
        queries,
        key=key,
        height=table_height(len(queries), HEIGHT_PX),
        hide_index=True,
        num_rows="delete" if editable else "fixed",
        disabled=["class", "concepts", "gap", "sources", DISAGREEMENT] if editable else True,
        column_config={
            "class": text_column("Class", width=100),
            "concepts": st.column_config.ListColumn("Concepts", width="medium"),
            "images": st.column_config.NumberColumn(
                "Images",
                min_value=0,
                max_value=_MOST_IMAGES,
                step=1,
                required=True,
                format="localized",
                width=90,
            ),
            "gap": count_column("Count gap", width=85, help="Of the clique, before."),
            "sources": count_column(
                "Sources", width=80, help="Real images with these concepts, or nearly."
            ),
            DISAGREEMENT: disagreement_column(),
        },
        alt="Queries of the plan",
    )


def _below(planned: IntArray, edits: Edits, shown: int, *, in_link: bool) -> None:
    """Draw how many queries are not shown, and how many were changed."""
    with st.container(horizontal=True, vertical_alignment="center"):
        total = int(np.count_nonzero(planned))
        if total > ROWS[0]:
            st.selectbox(
                "Rows",
                ROWS,
                **number_in_url("plan_rows"),
                label_visibility="collapsed",
                width=90,
            )
        if total > shown:
            st.caption(
                f"The {shown:,} largest queries of {total:,}; the others stay as they are planned."
            )

        if edits.images:
            dropped = list(edits.images.values()).count(0)
            text = (
                f"{len(edits.images) - dropped:,} changed, {dropped:,} dropped by hand. Another "
                "choice above plans anew."
            )
            if not in_link:
                text += " They are too many for a link: download the plan instead."
            st.caption(text)
            st.button("Undo", key="_plan_undo", on_click=forget_edits)
        elif shown:
            st.caption("Double-click a number to change it; tick rows to delete them.")
