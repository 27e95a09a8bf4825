"""Diagnose's view of the properties of image files that tell the classes apart."""

import streamlit as st

from cobalance.app.web.components import draw_grid, say_needs, uris_of
from cobalance.app.web.state import CurrentDataset, may_edit, session, user_name
from cobalance.app.web.widgets import draw_table, edits, empty_state, show_kept_error
from cobalance.base import DataError
from cobalance.graph.dataset import read_image_files
from cobalance.workflows.properties import (
    PROPERTIES,
    compare_classes,
    extreme_images,
    order_properties,
    read_properties,
)


def draw(current: CurrentDataset, height_px: int) -> None:
    """Draw a row a property, and the images of each class with the least and the most of one."""
    show_kept_error()
    try:
        images = read_properties(current.store, session.settings().folders(), current.name)
    except DataError as error:
        _offer_measuring(current, error)
        return

    draw_table(compare_classes(images), height_px // 2, alt="Image properties")
    name = st.selectbox("Images with the least and the most", PROPERTIES, key="_property")
    extremes = extreme_images(images, name).set_index("id")
    captions = extremes["class"] + ", " + extremes["extreme"] + ": " + extremes[name].astype(str)
    files = read_image_files(current.store, current.name, [*extremes.index])
    draw_grid(
        uris_of(files),
        captions.__getitem__,
        key=f"_extremes {name}",
        label=f"Extreme {name}",
        row_px=80,
    )


def _offer_measuring(current: CurrentDataset, error: DataError) -> None:
    """Say that no properties were measured, and let editors have them measured."""
    empty_state("No image properties yet", str(error), icon=":material/exposure:")

    if may_edit():
        st.button(
            "Have a worker measure them",
            key="_measure",
            on_click=edits(order_properties),
            args=(current.store, current.name),
            kwargs={"created_by": user_name()},
        )
        say_needs("worker")
