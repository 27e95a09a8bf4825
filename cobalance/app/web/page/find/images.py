"""Images by their ids, in a grid, with fields to tag them."""

import pandas as pd
import streamlit as st

from cobalance.app.web.components import draw_grid, draw_tagging, uris_of
from cobalance.app.web.state import CurrentDataset, session
from cobalance.app.web.widgets import draw_table
from cobalance.base import inflect
from cobalance.graph import marks_of_images, read_image_files

MOST = 100
"""The most images that are drawn at once."""


def draw_images(current: CurrentDataset, images: pd.DataFrame, label: str) -> None:
    """Draw images in a grid, with a lightbox and fields to tag them.

    They have ``id`` and ``class``; `label` says what they are, for screen readers.
    """
    if images.empty:
        st.caption("No image is here.")
        return
    more = f" The first {MOST} are shown." if len(images) > MOST else ""
    st.markdown(f"**{inflect(len(images), 'images')}**{more}")
    _grid(current, images.head(MOST), label)

    # A tag is for all of them, not for the drawn ones alone.
    draw_tagging(current, images["id"].tolist())


def _grid(current: CurrentDataset, images: pd.DataFrame, label: str) -> None:
    """Draw images as pictures, or by their names where no files are known."""
    files = read_image_files(current.store, current.name, images["id"].tolist())
    if files["uri"].isna().all() or not session.image_roots():
        columns = [name for name in ("id", "class", "similarity") if name in images]
        draw_table(images[columns], 240, alt="Images by name")
        st.caption("Names only: no files of these images are known. See *Datasets*.")
        return

    classes = dict(zip(images["id"], images["class"], strict=True))

    def caption(name: str) -> str:
        marks = marks_of_images(current.store, current.name, [name]).iloc[0]
        parts = [classes[name], ", ".join(marks["tags"]), marks["note"] or ""]
        return ". ".join(filter(None, parts))

    draw_grid(
        uris_of(files),
        classes.__getitem__,
        key=f"_find {label}",
        label=label,
        row_px=100,
        caption=caption,
    )
