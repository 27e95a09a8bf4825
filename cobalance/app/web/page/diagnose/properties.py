"""Diagnose's view of the properties of image files that tell the classes apart."""

from contextlib import suppress

import pandas as pd
import streamlit as st

from cobalance.app.web.components import draw_grid, uris_of
from cobalance.app.web.state import CurrentDataset, may_edit, session, tasks
from cobalance.app.web.widgets import draw_table, empty_state, show_task, viewer_note
from cobalance.base import CobalanceError, DataError, Progress
from cobalance.graph import read_image_files
from cobalance.workflows import (
    PROPERTIES,
    compare_classes,
    extreme_images,
    measure_properties,
    read_properties,
)

_TASK = "properties {}"


def draw(current: CurrentDataset, height_px: int) -> None:
    """Draw a row a property, and the images of each class with the least and the most of one."""
    if show_task(_TASK.format(current.name)):
        return
    images = _read(current)
    if images is None:
        _offer_measuring(current)
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


def measure_once(current: CurrentDataset) -> None:
    """Begin to measure the image files, unless they are measured; for editors alone."""
    # What is wrong with the dataset is said as the view is drawn.
    with suppress(CobalanceError):
        if may_edit() and _read(current) is None:
            _measure(current)


def _read(current: CurrentDataset) -> pd.DataFrame | None:
    """The images with their properties; None if they are not measured."""
    try:
        return read_properties(current.store, session.settings().folders(), current.name)
    except DataError:
        return None


def _offer_measuring(current: CurrentDataset) -> None:
    """Draw the measurements and the button for measuring; for editors alone."""
    viewer_note("measure image files")
    pressed = empty_state(
        "Do the files tell the classes apart?",
        "Brightness, sharpness, size, file type and camera of each image, by class.",
        icon=":material/exposure:",
        action=("Measure the image files", "_measure") if may_edit() else None,
    )
    if pressed:
        _measure(current)
        st.rerun()


def _measure(current: CurrentDataset) -> None:
    """Begin to measure the image files, in a task with a bar."""
    store, folders, name = current.store, session.settings().folders(), current.name

    def work(progress: Progress) -> str:
        return f"The image files are measured. {measure_properties(store, folders, name, progress)}"

    tasks.start(_TASK.format(name), "Measuring the image files", work)
