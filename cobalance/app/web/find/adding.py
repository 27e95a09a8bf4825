"""Embeddings of a dataset's images: computed by a worker, or added from a file."""

from pathlib import Path
from typing import Any

import streamlit as st

from cobalance.app.web.components.option_fields import draw_model_options
from cobalance.app.web.components.workers import draw_workers, say_needs, task_buttons
from cobalance.app.web.state import session
from cobalance.app.web.state.access import accept_uploads, may_edit, user_name
from cobalance.app.web.state.refreshing import rerun_page
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url
from cobalance.app.web.widgets.controls import choose_view
from cobalance.app.web.widgets.messages import (
    edits,
    empty_state,
    errors_in_fragment,
    show_kept_error,
    viewer_note,
)
from cobalance.app.web.widgets.theme import duration_text, escape
from cobalance.evaluation.training.features import FEATURES
from cobalance.graph.tasks.lifecycle import Task
from cobalance.ingest.embeddings.reading import SUFFIXES
from cobalance.workflows.embed.compute import order_embeddings
from cobalance.workflows.embed.search import USUAL, add_embeddings, computing_tasks
from cobalance.workflows.load.sources import temporary_files

COMPUTE, FILE = "Compute them", "From a file"
REFRESH_S = 1


def show_first(current: CurrentDataset) -> None:
    """Draw the purpose of embeddings, and the ways to get them."""
    empty_state(
        "No embeddings yet",
        "Vectors of the images, from any model, show which are alike. Have a worker compute them, "
        "or add a file; `cobalance embeddings` does the same.",
        icon=":material/scatter_plot:",
    )
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
    found = _latest(current.name)
    if found is None or found.state == "done":
        return
    if found.is_active:
        draw_workers()
    st.fragment(run_every=REFRESH_S if found.is_active else None)(_draw_task)(
        current.name, found.state
    )


def _latest(dataset: str) -> Task | None:
    return next(iter(computing_tasks(session.store(), dataset)), None)


def _draw_task(dataset: str, drawn: str) -> None:
    with errors_in_fragment():
        found = _latest(dataset)
        if found is None or found.state != drawn:
            rerun_page()
            return
        name = found.settings["features"]
        with st.container(border=True, key="_embeddings_task"):
            share = min((found.done or 0) / found.total, 1.0) if found.total else 0.0
            done = f" {found.done:,} of {found.total:,}" if found.total else ""
            left = found.seconds_left
            at = f"{found.stage}{done}" if found.state == "running" else found.state
            left_text = "" if left is None else f", {duration_text(left)} left"
            st.progress(share, f"Embeddings by {name}: {at}{left_text}")
            for remark in found.remarks:
                st.text(remark)
            if may_edit():
                is_active = found.is_active
                task_buttons("tasks", [found.id] * is_active, [found.id] * (not is_active))


def _compute_form(current: CurrentDataset) -> None:
    """Draw the choice of a model, and the button that orders its vectors."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = sorted(FEATURES, key=lambda name: name != USUAL)
        name = st.selectbox("Model", names, **choice_in_url("find_with"), width=180)
        plugin = FEATURES[name]
        with st.popover("Options"):
            options = draw_model_options(
                plugin.options, f"find_{name}_", "`cobalance embeddings compute`"
            )
        st.button(
            "Compute the embeddings", key="_embeddings_compute", type="primary",
            on_click=edits(order_embeddings), args=(current.store, current.name),
            kwargs={"features": name, "options": options, "created_by": user_name()},
        )  # fmt: skip
    licence = f" Default model: {plugin.licence}." if plugin.licence else ""
    st.caption(escape(plugin.purpose + licence))
    say_needs(plugin.extra)


def _file_form(current: CurrentDataset) -> None:
    """Draw the place for a file with embeddings."""
    accept_uploads()
    sent = st.file_uploader(
        "Embeddings",
        [suffix.removeprefix(".") for suffix in SUFFIXES],
        key="_embeddings_file",
        help="Parquet: a column of ids and one of lists of numbers. CSV: a column of ids, all "
        "others of numbers. NumPy: .npz with an array of ids and one with a row for each image, "
        "or .npy with the rows alone.",
    )
    ids, column = None, "id"
    lacks_ids = sent is not None and _suffix(sent) == ".npy"
    if lacks_ids:
        ids = st.file_uploader(
            "Ids of its rows", ["txt"], key="_embeddings_row_ids", help="Text, an id a line."
        )
    else:
        column = st.text_input(
            "Column of ids", "id", key="_embeddings_ids", help="Of .npz: the array of ids."
        )
    st.button(
        "Add the embeddings", key="_embeddings_add", on_click=_add,
        disabled=sent is None or (lacks_ids and ids is None), args=(current, sent, ids, column),
    )  # fmt: skip


def _suffix(sent: Any) -> str:
    """Format of a sent file."""
    suffix = Path(sent.name).suffix.lower()
    return suffix if suffix in SUFFIXES else SUFFIXES[0]


@edits
def _add(current: CurrentDataset, sent: Any, ids: Any, column: str) -> None:
    name = f"embeddings{_suffix(sent)}"
    files = {name: sent.getbuffer()} | ({} if ids is None else {"ids.txt": ids.getbuffer()})
    with temporary_files(files) as folder:
        names = None if ids is None else folder / "ids.txt"
        where = current.store, session.settings().folders(), current.name
        add_embeddings(*where, folder / name, names, id_column=column)
