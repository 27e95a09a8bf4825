"""Diagnose's view of concepts that occur together more or less often than by chance."""

import streamlit as st

from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import draw_table, empty_state, text_column
from cobalance.graph import Ranking, read_cooccurrences
from cobalance.workflows import COOCCURRENCES, cooccurrence_table

_ROWS = 200
_KEY = "_cooccurrences"


def draw(current: CurrentDataset, concepts: tuple[str, ...], height_px: int) -> None:
    """Draw the table of the combinations with some concepts; a row's images are one click away."""
    frame = current.read(read_cooccurrences, Ranking(concepts=concepts, limit=_ROWS))
    if frame.empty:
        empty_state("No combination", "No two concepts share an image, or are expected to.")
        return

    st.caption(COOCCURRENCES)
    rows = cooccurrence_table(frame)
    rows["concepts"] = list(map(" + ".join, frame["concepts"]))
    # The parts of a pair are its two concepts.
    if frame["concepts"].map(len).max() == 2:
        del rows["parts"]
    cliques = frame["concepts"].tolist()

    def open_images() -> None:
        cells = st.session_state[_KEY].selection.cells
        if cells:
            url.show_images(cliques[cells[0][0]])

    draw_table(
        rows,
        height_px,
        dict.fromkeys(("concepts", "parts"), text_column(width=180)),
        key=_KEY,
        on_select=open_images,
        selection_mode="single-cell",
        alt="Co-occurrences",
    )
    st.caption("Click a row to see its images.")
