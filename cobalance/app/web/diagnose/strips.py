"""The first combinations of the table with images of each class, one under the other."""

import pandas as pd
import streamlit as st

from cobalance.app.web.components.images import gallery
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.graph.diagnosis.imbalance import COUNT
from cobalance.workflows.diagnose.tables import effect_texts

ROWS = 3
PER_CLASS = 8
ROW_PX = 64
MOST_CLASSES = 4


def draw(current: CurrentDataset, frame: pd.DataFrame) -> None:
    """Draw the first rows of the table with the first images of each class."""
    first = frame.head(ROWS)
    for row, effect in zip(first.to_dict("records"), effect_texts(first), strict=True):
        clique = tuple(row["concepts"])
        title = shorten(" + ".join(clique), 60)
        st.markdown(f"**{escape(title)}** · {escape(effect)}")
        counts = {name: int(row[COUNT + name]) for name in current.class_sizes}
        names = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_CLASSES]
        for name in names:
            share = counts[name] / current.class_sizes[name]
            st.caption(f"{escape(name)}: {counts[name]:,} images, {share:.1%} of the class")
            gallery.strip(current, clique, name, PER_CLASS, ROW_PX)
    if len(frame) > ROWS:
        st.caption(f"The first {ROWS} rows of the table; click a number in it for another's.")
