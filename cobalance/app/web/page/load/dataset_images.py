"""The images of a dataset in a grid, which a class and concepts narrow down."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.components import THUMBNAIL_PX, draw_grid, gallery, image_files, uris_of
from cobalance.app.web.state import CurrentDataset, in_url, names_of, number_in_url
from cobalance.app.web.widgets import choose_one, draw_table, empty_state
from cobalance.base import inflect, text_if
from cobalance.graph import read_image_page
from cobalance.graph.database import schema

PER_PAGE = 48
_ROW_PX = 110
# The parameter of the URL.
_PAGE = "ds_page"


def draw(current: CurrentDataset) -> None:
    """Draw the choice of a class and of concepts, how many images show them, and a page of these.

    Where all images are of one class there is none to choose.
    """
    current.state.require_complete()
    if not current.state.has_images:
        empty_state("Counts alone", "They were read from a bias record, which has no images.")
        return

    classes, names = names_of(current, schema.CLASS), names_of(current, schema.CONCEPT)
    # Other images begin with their first page.
    first_page: dict[str, Any] = {"on_change": st.session_state.update, "args": ({_PAGE: 1},)}
    class_name = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(classes) > 1:
            class_name = choose_one("Class", classes, "ds_class", "any", width=200, **first_page)
        concepts = st.multiselect(
            "Concepts that they all show",
            names,
            **in_url("ds_concept", names),
            placeholder="any",
            width=420,
            **first_page,
        )
        images, total = current.read(read_image_page, concepts, class_name, limit=PER_PAGE)
        n_images = total
        if concepts or class_name is not None:
            _, n_images = current.read(read_image_page, [], None, limit=PER_PAGE)
        share = text_if(total < n_images, f"{total:,} of ")
        sampled = text_if(current.state.sample, ", the sample that the graph keeps")
        st.markdown(f"**{share}{inflect(n_images, 'images')}**{sampled}", width="content")
    if not total:
        empty_state("No image shows all of this", "Take out a concept, or choose another class.")
        return

    # Which page it is stands below the images.
    is_paged = total > PER_PAGE
    place = st.container(key="_dataset_images_page" if is_paged else None)
    page = 1
    if is_paged:
        page = st.pagination(math.ceil(total / PER_PAGE), **number_in_url(_PAGE))
    if page > 1:
        skip = (page - 1) * PER_PAGE
        images, _ = current.read(read_image_page, concepts, class_name, skip=skip, limit=PER_PAGE)
    with place:
        _grid(images)


def _grid(images: pd.DataFrame) -> None:
    """Draw images as pictures, or by their names where no file of them can be shown."""
    uris, problem = uris_of(images), gallery.no_files(images)
    # The first that can be read ends the search; all of a page may be on another machine.
    pictures = (image_files().thumbnail(uri, THUMBNAIL_PX) for uri in uris.values())
    if problem is None and all(picture.problem is not None for picture in pictures):
        problem = "Names only: the files are not in the folders under *Image folders*."
    if problem is not None:
        st.caption(problem)
        columns = {"id": "Image", "class": "Class", "concepts": "Concepts"}
        draw_table(images[[*columns]], None, columns, alt="Images by name")
        return

    contents = images.set_index("id")
    texts = contents["class"] + ": " + contents["concepts"].map(", ".join)
    draw_grid(
        uris,
        texts.__getitem__,
        key="_dataset_images",
        label="Images of the dataset",
        row_px=_ROW_PX,
        caption=texts.__getitem__,
    )
