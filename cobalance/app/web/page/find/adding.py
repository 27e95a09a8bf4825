"""Embeddings of a dataset's images: computed by a worker, or added from a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from cobalance.app.web.components import (
    draw_model_options,
    draw_purpose,
    draw_workers,
    say_needs,
    task_buttons,
)
from cobalance.app.web.state import (
    CurrentDataset,
    accept_uploads,
    choice_in_url,
    may_edit,
    refreshing_while,
    rerun_page,
    session,
    tasks,
    user_name,
)
from cobalance.app.web.widgets import (
    choose_view,
    edits,
    empty_state,
    errors_in_fragment,
    percent_done,
    show_kept_error,
    viewer_note,
)
from cobalance.base import Progress, is_installed
from cobalance.evaluation import FEATURES
from cobalance.graph import Task
from cobalance.ingest import SUFFIXES
from cobalance.workflows import (
    add_embeddings,
    compute_embeddings,
    computing_tasks,
    duration_text,
    order_embeddings,
    temporary_files,
)

COMPUTE, FILE = "Compute them", "From a file"
# Key of the task that computes a dataset's embeddings in this process.
TASK = "embed {}"
# The features that need no model come first in the registry.
FIRST = next(iter(FEATURES))
# Extras of features without a model, which the app itself has time for.
_LIGHT = (None, "evaluate")
REFRESH_S = 1


def show_first(current: CurrentDataset) -> None:
    """Draw the purpose of embeddings, the button for the first ones, and other ways to add them."""
    pressed = empty_state(
        "Which images are alike?",
        "Near duplicates, the images most like one, and a map of all of them: by their pixels, "
        "without a model.",
        icon=":material/scatter_plot:",
        action=("Compare the images", "_embeddings_first") if may_edit() else None,
    )
    if pressed:
        _compute(current, FIRST, {})
        st.rerun()
    with st.expander("With a model, or vectors from a file", icon=":material/tune:"):
        show(current)


def show(current: CurrentDataset) -> None:
    """Draw the forms that compute the embeddings, or add them from a file."""
    show_kept_error()
    if not may_edit():
        viewer_note("compute or add embeddings")
        return
    if choose_view("Where they come from", (COMPUTE, FILE), "find_source") == COMPUTE:
        _compute_form(current)
    else:
        _file_form(current)


def show_task(current: CurrentDataset) -> None:
    """Draw how far a worker is with the embeddings; nothing where it is done, or none is asked."""
    task = _latest(current.name)
    if task is None or task.state == "done":
        return
    if task.is_active:
        draw_workers()
    refreshing_while(task.is_active, REFRESH_S)(_draw_task)(current.name, task.state)


def _latest(dataset: str) -> Task | None:
    return next(iter(computing_tasks(session.store(), dataset)), None)


def _draw_task(dataset: str, drawn: str) -> None:
    """Draw the newest task; the whole page anew once its state is not the drawn one."""
    with errors_in_fragment():
        task = _latest(dataset)
        if task is None or task.state != drawn:
            rerun_page()
            return

        text = str(task.state)
        if task.state == "running":
            text = task.stage
            if task.total:
                text = f"{text} {task.done or 0:,} of {task.total:,}"
        if task.seconds_left is not None:
            text = f"{text}, {duration_text(task.seconds_left)} left"

        with st.container(border=True, key="_embeddings_task"):
            share = percent_done(task.done, task.total) / 100
            st.progress(share, f"Embeddings by {task.settings['features']}: {text}")
            for remark in task.remarks:
                st.text(remark)
            if may_edit() and task.is_active:
                task_buttons("tasks", [task.id], [])
            elif may_edit():
                task_buttons("tasks", [], [task.id])


def _compute_form(current: CurrentDataset) -> None:
    """Draw the choice of a model, and the button that orders its vectors."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Model", list(FEATURES), **choice_in_url("find_with"), width=180)
        plugin = FEATURES[name]
        with st.popover("Options"):
            options = draw_model_options(
                plugin.options, f"find_{name}_", "`cobalance embeddings compute`"
            )
        st.button(
            "Compute the embeddings", key="_embeddings_compute", type="primary",
            on_click=edits(_compute), args=(current, name, options),
        )  # fmt: skip

    draw_purpose(plugin)
    say_needs(plugin.extra)


def _compute(current: CurrentDataset, name: str, options: Mapping[str, Any]) -> None:
    """Compute vectors in this process where that takes no model, else order them of a worker."""
    extra = FEATURES[name].extra
    if extra not in _LIGHT or (extra is not None and not is_installed(extra)):
        order_embeddings(current.store, current.name, name, options, created_by=user_name())
        return
    store, folders = current.store, session.settings().folders()

    def work(progress: Progress) -> str:
        note = compute_embeddings(store, folders, current.name, name, options, progress)
        return f"The images are compared. {note}"

    tasks.start(TASK.format(current.name), "Comparing the images", work)


def _file_form(current: CurrentDataset) -> None:
    """Draw the place for a file with embeddings."""
    accept_uploads()
    vectors = st.file_uploader(
        "Embeddings",
        [suffix.removeprefix(".") for suffix in SUFFIXES],
        key="_embeddings_file",
        help="Parquet: a column of ids and one of lists of numbers. CSV: a column of ids, all "
        "others of numbers. NumPy: .npz with an array of ids and one with a row for each image, "
        "or .npy with the rows alone.",
    )

    ids, column, is_ready = None, "id", vectors is not None
    if vectors is not None and _suffix(vectors) == ".npy":
        ids = st.file_uploader(
            "Ids of its rows", ["txt"], key="_embeddings_row_ids", help="Text, an id a line."
        )
        is_ready = ids is not None
    else:
        column = st.text_input(
            "Column of ids", "id", key="_embeddings_ids", help="Of .npz: the array of ids."
        )
    st.button(
        "Add the embeddings", key="_embeddings_add", on_click=_add, disabled=not is_ready,
        args=(current, vectors, ids, column),
    )  # fmt: skip


def _suffix(uploaded: Any) -> str:
    """Format of a sent file."""
    suffix = Path(uploaded.name).suffix.lower()
    return suffix if suffix in SUFFIXES else SUFFIXES[0]


@edits
def _add(current: CurrentDataset, vectors: Any, ids: Any, column: str) -> None:
    name = f"embeddings{_suffix(vectors)}"
    files = {name: vectors.getbuffer()}
    if ids is not None:
        files["ids.txt"] = ids.getbuffer()
    with temporary_files(files) as folder:
        add_embeddings(
            current.store,
            session.settings().folders(),
            current.name,
            folder / name,
            None if ids is None else folder / "ids.txt",
            id_column=column,
        )
