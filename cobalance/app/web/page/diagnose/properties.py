"""Diagnose's view of the properties of image files that tell the classes apart."""

import streamlit as st

from cobalance.app.web.components import draw_grid, uris_of
from cobalance.app.web.state import CurrentDataset, may_edit, session, tasks
from cobalance.app.web.widgets import draw_table, empty_state, show_task, viewer_note
from cobalance.base import DataError, Progress
from cobalance.graph import read_image_files
from cobalance.workflows import (
    PROPERTIES,
    compare_classes,
    extreme_images,
    measure_properties,
    read_properties,
)


def draw(current: CurrentDataset, height_px: int) -> None:
    """Draw a row a property, and the images of each class with the least and the most of one."""
    key = f"properties {current.name}"
    if show_task(key):
        return
    try:
        images = read_properties(current.store, session.settings().folders(), current.name)
    except DataError:
        _offer_measuring(current, key)
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


def _offer_measuring(current: CurrentDataset, key: str) -> None:
    """Draw the measurements and the button for measuring; for editors alone."""
    viewer_note("measure image files")
    pressed = empty_state(
        "Do the files tell the classes apart?",
        "Brightness, sharpness, size, file type and camera of each image, by class.",
        icon=":material/exposure:",
        action=("Measure the image files", "_measure") if may_edit() else None,
    )
    if pressed:
        store, folders = current.store, session.settings().folders()

        def work(progress: Progress) -> str:
            note = measure_properties(store, folders, current.name, progress)
            return f"The image files are measured. {note}"

        tasks.start(key, "Measuring the image files", work)
        st.rerun()
