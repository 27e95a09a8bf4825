"""The images of a dataset in a grid, which a class and concepts narrow down."""

import math

import pandas as pd
import streamlit as st

from cobalance.app.web.components import THUMBNAIL_PX, draw_grid, gallery, image_files, uris_of
from cobalance.app.web.state import CurrentDataset, in_url, names_of, number_in_url
from cobalance.app.web.widgets import choose_one, draw_table, empty_state
from cobalance.base import inflect
from cobalance.graph.database import schema
from cobalance.graph.queries import read_image_page

# The parameters of the URL.
CLASS, CONCEPTS, PAGE = "ds_class", "ds_concept", "ds_page"
PER_PAGE = 48
_ROW_PX = 110


def draw(current: CurrentDataset) -> None:
    """Draw the filters, how many images they leave, and a page of these."""
    current.state.require_complete()
    _, n_images = current.read(read_image_page, limit=PER_PAGE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        class_name, concepts = _choose(current)
        images, total = current.read(read_image_page, concepts, class_name, limit=PER_PAGE)
        count = inflect(n_images, "images")
        if total < n_images:
            count = f"{total:,} of {count}"
        kept = "" if current.state.sample is None else ", the sample that the graph keeps"
        st.markdown(f"**{count}**{kept}", width="content")
    if not total:
        empty_state("No image shows all of this", "Take out a concept, or choose another class.")
        return

    # Drawn below the images, of which it says the page.
    place = st.container()
    page = 1
    if total > PER_PAGE:
        page = st.pagination(math.ceil(total / PER_PAGE), **number_in_url(PAGE))
    if page > 1:
        skip = (page - 1) * PER_PAGE
        images, _ = current.read(read_image_page, concepts, class_name, skip=skip, limit=PER_PAGE)
    with place:
        _grid(images)


def _choose(current: CurrentDataset) -> tuple[str | None, list[str]]:
    """Draw the choice of a class, where there are several, and of concepts; give these."""

    def show_first_page() -> None:
        st.session_state[PAGE] = 1

    class_name = None
    classes = names_of(current, schema.CLASS)
    if len(classes) > 1:
        class_name = choose_one(
            "Class", classes, CLASS, "any", width=200, on_change=show_first_page
        )
    names = names_of(current, schema.CONCEPT)
    concepts = st.multiselect(
        "Concepts that they all show",
        names,
        **in_url(CONCEPTS, names),
        placeholder="any",
        width=420,
        on_change=show_first_page,
    )
    return class_name, concepts


def _grid(images: pd.DataFrame) -> None:
    """Draw images as pictures, or by their names where no file of them can be shown."""
    uris, problem = uris_of(images), gallery.no_files(images)
    if problem is None:
        files = image_files()
        pictures = (files.thumbnail(uri, THUMBNAIL_PX) for uri in uris.values())
        # The first that can be read ends the search; all of a page may be on another machine.
        if all(picture.problem is not None for picture in pictures):
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
