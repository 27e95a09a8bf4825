"""Export a job's dataset for training: in the background, to a folder and as a download."""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from cobalance.app.web.state import choice_in_url, in_url, may_edit, session, tasks
from cobalance.app.web.widgets import download, edits, escape, show_kept_error, show_task
from cobalance.base import Progress
from cobalance.generation import EXPORTERS, ExportOptions
from cobalance.graph import Job, read_job
from cobalance.workflows import WrittenExport, delete_export, find_export, folder_stem, write_export


def draw(job: Job, result: Mapping[str, Any]) -> None:
    """Draw the choice of a format, the export with its progress and download, and its command.

    `result` is, of a job that edits images, what differs from the recipe's `ResultOptions`.
    """
    st.caption("The dataset with the accepted images as files to train on, with a data card.")
    format_ = st.selectbox(
        "Format", list(dict(EXPORTERS.items())), **choice_in_url("export_as"), width=180
    )
    st.caption(EXPORTERS[format_].purpose)
    real, flags, options = _choose_options(format_)
    if may_edit():
        _export(job, format_, real, options, result)
    with st.expander("Or in a terminal", key="_export_command"):
        st.code(export_command(job, format_, result, flags), language=None, wrap_lines=True)


def export_command(job: Job, format_: str, result: Mapping[str, Any], flags: Sequence[str]) -> str:
    """The command that exports a job's dataset, with further options as `flags`.

    The folder is named after the dataset, in characters that any shell and file system takes.
    """
    folder = f"{folder_stem(job.dataset)}-rebalanced"
    options = []
    for name, value in result.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        options += [f"--{name}", text]
    return shlex.join(["cobalance", "export", job.id, folder, "--as", format_, *options, *flags])


def _choose_options(format_: str) -> tuple[bool, list[str], ExportOptions]:
    """Draw the choice of real images and options; return them, and flags of the command."""
    with st.container(horizontal=True, vertical_alignment="center"):
        real = st.checkbox("With the real images", value=True, **in_url("export_real"))
        skip = st.checkbox(
            "Leave out images that cannot be read",
            **in_url("export_skip"),
            help="They are counted. Otherwise the first of them ends the export.",
        )
        reference = EXPORTERS[format_].can_reference and st.checkbox(
            "Name real images by their addresses",
            **in_url("export_reference"),
            help="They are not copied.",
        )

    switches = {"--generated-only": not real, "--skip-missing": skip, "--reference": reference}
    flags = [flag for flag, is_on in switches.items() if is_on]
    return real, flags, ExportOptions(skip_missing=skip, reference=reference)


def _export(
    job: Job, format_: str, real: bool, options: ExportOptions, result: Mapping[str, Any]
) -> None:
    """Draw the button that writes the export in the background, and the last export."""
    key = f"export {job.id} {format_}"
    store, folders = session.store(), session.settings().folders()

    def work(progress: Progress) -> str:
        # Read anew: more may have been accepted since the page was drawn.
        latest = read_job(store, job.id)
        write_export(
            store, folders, latest, format_, options, real=real, result=result, progress=progress
        )
        return f"Exported as {format_}."

    if st.button("Write the files", key="_export", type="primary", disabled=tasks.is_running(key)):
        tasks.start(key, f"Exporting as {format_}", work)
        st.rerun()
    show_kept_error()
    if show_task(key):
        return

    export = find_export(folders, job, format_)
    if export is not None:
        _draw_written(job, format_, export)


def _draw_written(job: Job, format_: str, export: WrittenExport) -> None:
    """Draw where an export is, its download where it is small enough, and how to delete it."""
    st.markdown(f"Written on {export.written_at:%d %b %Y %H:%M} UTC: {escape(export.text)}.")
    st.code(str(export.folder), language=None, wrap_lines=True)

    zip_file = export.zip_file
    with st.container(horizontal=True, vertical_alignment="center"):
        if zip_file is not None:
            size_mb = zip_file.stat().st_size / 1e6
            label = f"Download as ZIP ({size_mb:,.1f} MB)"
            download(label, zip_file.read_bytes, zip_file.name, key="_export_zip")
        st.button(
            "Delete the export",
            key="_export_delete",
            icon=":material/delete:",
            on_click=partial(_delete, job, format_),
        )
    if zip_file is None:
        st.caption("It is too large to download from here; the folder is on the app's machine.")


@edits
def _delete(job: Job, format_: str) -> None:
    delete_export(session.settings().folders(), job, format_)
    tasks.dismiss(f"export {job.id} {format_}")
