"""Images of a clique: a grid for each class, side by side, with boxes and masks, and a lightbox."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.components.shown_images import (
    BOXES,
    OPENED,
    draw_grid,
    draw_tagging,
    uris_of,
)
from cobalance.app.web.server.streamlit_internals import came_back
from cobalance.app.web.state import CurrentDataset, access, in_url, number_in_url, session, url
from cobalance.app.web.widgets import draw_table, escape, grid, shorten
from cobalance.base import inflect
from cobalance.graph import list_image_concepts, read_clique_images
from cobalance.vision import read_regions
from cobalance.workflows import class_colors

MOST_CLASSES = 4
PER_PAGE = (24, 48, 100)
_PER_PAGE, _ROW_PX = "images_per_page", "images_px"
_OF = "_gallery_of"  # the clique that was shown last


def draw(
    current: CurrentDataset,
    clique: tuple[str, ...],
    counts: Mapping[str, int],
    class_name: str | None = None,
    compared: Sequence[str] = (),
) -> None:
    """Draw the images of a clique: of one class, or of several side by side.

    `counts` is by class; the `compared` ones come first, however few images they have.
    """
    _begin(current, clique)
    per_page, row_px, boxes = _choose_look(clique, [*counts], class_name)

    if class_name:
        names = [class_name]
    else:
        names = order_classes(counts, compared)[:MOST_CLASSES]
        if len(names) < len(counts):
            first = "the compared ones, then those with most images" if compared else "most images"
            st.caption(f"{len(names)} of {len(counts):,} classes ({first}); choose another above.")

    drawn: list[str] = []
    for place, name in zip(grid(len(names), min(len(names), 2)), names, strict=True):
        with place:
            drawn += _one_class(
                current, clique, name, counts[name], per_page, row_px=row_px, overlay=boxes
            )
    if drawn and access.may_edit():
        with st.expander("Tag these images", icon=":material/label:"):
            draw_tagging(current, drawn)


def order_classes(counts: Mapping[str, int], compared: Sequence[str] = ()) -> list[str]:
    """Classes to show: the compared ones, then the others, those with most images first.

    Examples
    --------
    >>> order_classes({"beach": 5, "office": 0, "street": 9}, ("street", "office"))
    ['street', 'office', 'beach']
    """
    first = [name for name in compared if name in counts]
    others = [name for name in counts if name not in first]
    return first + sorted(others, key=counts.__getitem__, reverse=True)


def _begin(current: CurrentDataset, clique: tuple[str, ...]) -> None:
    """Show the first pages of a clique, and no image of another, unless the URL says which."""
    previous = st.session_state.get(_OF)
    st.session_state[_OF] = clique
    if previous not in (None, clique) and not came_back():
        url.write(OPENED, [])
        _show_first_pages(current)


def _show_first_pages(current: CurrentDataset) -> None:
    for name in current.class_sizes:
        if (key := _page_key(current, name)) in st.session_state:
            st.session_state[key] = 1


def strip(
    current: CurrentDataset,
    clique: tuple[str, ...],
    class_name: str,
    most: int,
    row_px: int,
    key: str,
) -> str | None:
    """Draw the first images of a clique in a class, in one row; say why none can be drawn.

    They are `most` of them, or as many as have room; a click opens the gallery.
    """
    images = _read_images(current, clique, class_name, skip=0, limit=most)
    problem = no_files(images)
    if not current.state.has_images:
        problem = "Counts alone: the dataset is of a bias record."
    elif images.empty:
        problem = "No images."
    if problem is not None:
        return problem

    def open_in_gallery(name: str | None) -> None:
        if name is not None:
            st.session_state[_OF] = clique
            _show_first_pages(current)
            url.show_images(clique)
            url.write(OPENED, [name])
            # The gallery is in a drawer, which is a part of the page.
            st.rerun()

    # Its height is known before the pictures are, and what comes below stays where it is.
    with st.container(key=f"{key} strip {class_name} {clique}", height=row_px + 8, border=False):
        _draw_grid(
            current,
            clique,
            class_name,
            images,
            key=f"{key} {class_name} {clique}",
            label=f"First images of {class_name} with {', '.join(clique)}",
            row_px=row_px,
            overlay=st.session_state.get(BOXES, True),
            on_open=open_in_gallery,
        )
    return None


def _page_key(current: CurrentDataset, class_name: str) -> str:
    return f"images_page_{list(current.class_sizes).index(class_name) + 1}"


def keep_look() -> None:
    """Keep the display settings while no images are drawn: Streamlit forgets undrawn widgets."""
    for key in (_PER_PAGE, _ROW_PX, BOXES):
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def _choose_look(
    clique: tuple[str, ...], classes: Sequence[str], class_name: str | None
) -> tuple[int, int, bool]:
    """Draw the choice of class, and of number of images, their height and outlines; give these."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = [None, *classes]
        key = f"_gallery_class {clique} {class_name}"
        st.selectbox(
            "Class",
            names,
            index=names.index(class_name),
            format_func=lambda name: "All classes" if name is None else shorten(name, 40),
            key=key,
            on_change=lambda: url.show_images(clique, st.session_state[key]),
            width=160,
        )

        per_page = st.selectbox("Images a class", PER_PAGE, **number_in_url(_PER_PAGE), width=120)
        row_px = st.slider(
            "Height", 80, 240, 120, 20, format="%d px", **number_in_url(_ROW_PX), width=180
        )
        boxes = st.toggle("Boxes and outlines", value=True, **in_url(BOXES))
    return per_page or PER_PAGE[0], row_px, boxes


def _one_class(
    current: CurrentDataset,
    clique: tuple[str, ...],
    class_name: str,
    total: int,
    per_page: int,
    **look: Any,
) -> list[str]:
    """Draw a page of the images of a class; return their ids."""
    sample = current.state.sample
    listed = total if sample is None else min(total, sample.per_class)
    size = current.class_sizes.get(class_name, 0)
    if not total:
        st.markdown(f"**{escape(class_name)}** · none of {inflect(size, 'images')}")
        return []

    heading = f"**{escape(class_name)}** · {inflect(total, 'images')}"
    if size:
        heading += f" · {total / size:.1%} of the class"
    if not current.state.has_images:
        heading += " · counts alone"
    elif listed != total:
        heading += f" · a sample of {listed:,}"
    st.markdown(heading)
    if not listed:
        return []

    page: int | None = 1
    if listed > per_page:
        pages = math.ceil(listed / per_page)
        page = st.pagination(pages, **number_in_url(_page_key(current, class_name)))
    skip = ((page or 1) - 1) * per_page
    images = _read_images(current, clique, class_name, skip=skip, limit=per_page)

    problem = no_files(images)
    if problem is not None:
        st.caption(problem)
        draw_table(images[["id"]], 400, {"id": "Image"}, alt=f"Images of {class_name} by name")
        return [*images["id"]]
    _draw_grid(
        current,
        clique,
        class_name,
        images,
        key=f"_images {class_name}",
        label=f"Images of {class_name}",
        caption=lambda name: f"{class_name}: {', '.join(current.read(list_image_concepts, name))}",
        **look,
    )
    return [*images["id"]]


def _read_images(
    current: CurrentDataset, clique: tuple[str, ...], class_name: str, **page: int
) -> pd.DataFrame:
    compared = next(iter(current.state.compared), None)
    return current.read(read_clique_images, clique, class_name, compared=compared, **page)


def _draw_grid(
    current: CurrentDataset,
    clique: tuple[str, ...],
    class_name: str,
    images: pd.DataFrame,
    **options: Any,
) -> None:
    """Draw images of a clique, with the regions of its concepts in the colour of the class."""
    regions = read_regions(
        session.settings().folders().regions, current.name, images["id"].tolist()
    )
    clique_regions = regions[regions["concept"].isin(clique)]

    class_color = class_colors(list(current.class_sizes))[class_name]
    colors = dict.fromkeys(clique, class_color)
    draw_grid(uris_of(images), lambda _: class_name, clique_regions, colors, **options)


def no_files(images: pd.DataFrame) -> str | None:
    """Why there are no pictures to show; None if there may be some."""
    if images["uri"].isna().all():
        return "Names only: the annotations have no image addresses."
    if not session.image_roots():
        return (
            "Names only: no folder with the files is known. Editors add one under "
            "*Image folders* on the Data page."
        )
    return None
