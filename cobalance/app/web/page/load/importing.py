"""Import annotations: choose files, set options, check, load."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from cobalance.app.web.components import mine_button
from cobalance.app.web.page.load import checked
from cobalance.app.web.page.load.chosen_file import cached_by_files
from cobalance.app.web.page.load.import_form import PATTERN, import_form
from cobalance.app.web.state import accept_uploads, require_editor, session, tasks
from cobalance.app.web.widgets import (
    button_type,
    draw_table,
    empty_state,
    errors_shown,
    escape,
    in_app,
    shorten,
    show_task,
)
from cobalance.base import Progress, render
from cobalance.graph.dataset import dataset_state
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.preview import DATA_ENDINGS, WHOLE_FOLDER, FoundFile
from cobalance.workflows.load.check import CheckedImport, ImportRequest, check_import
from cobalance.workflows.load.dataset import describe_load, load_dataset
from cobalance.workflows.load.image_places import find_images
from cobalance.workflows.load.sources import ServerFolder, Source, Uploads, import_roots, inside

# The dataset that this session loads, until the page has chosen it.
LOADING = "_loading"
# The dataset that this session has loaded, until the person goes on.
LOADED = "_loaded"
# Where the person goes on to: details or diagnose.
NEXT = "_loaded_next"
# Whether a click asks for a check in this run.
_REQUESTED = "_import_asked"
_CHECK = "_import_check"

_NAMES = {WHOLE_FOLDER: "All of them"}
_UPLOAD, _UPLOAD_FOLDER, _SERVER = "Files", "A folder", "On the server"


@dataclass
class _Check:
    """A running or finished check, and its result; `file` is where the annotations stay."""

    key: str
    identity: tuple[object, ...]
    request: ImportRequest
    file: Path | None
    result: CheckedImport | None = None


@st.fragment
def draw_import() -> None:
    """Draw the import from the choice of a file to the load; errors are shown here."""
    with errors_shown():
        require_editor()
        loaded = st.session_state.get(LOADED)
        if loaded is not None:
            _draw_next_steps(loaded)
            return

        source = _draw_source()
        request = None
        if source is not None:
            request = _draw_request(source)
        _draw_outcome(source, request)


def _draw_request(source: Source) -> ImportRequest | None:
    """Draw the choice of the file, its options, and the check; None without a readable file."""
    files = _draw_file_choice(source)
    if files is None:
        return None
    request = import_form(source, *files)

    # The click set a flag; the form's values are known only now.
    if st.session_state.pop(_REQUESTED, False):
        _start_check(source, request)
    _draw_check_button(again=_is_current(source, request))
    return request


def _draw_next_steps(dataset: str) -> None:
    """Draw the next steps after a load."""
    st.markdown(f"**{escape(dataset)}** is loaded.")
    with st.container(horizontal=True):
        mine = st.button(
            "Mine and diagnose", type="primary", icon=":material/balance:", key="_import_mine"
        )
        details = st.button("Show its details", icon=":material/table_rows:", key="_import_shown")
        another = st.button("Load another file", icon=":material/add:", key="_import_another")
    if not (mine or details or another):
        return

    del st.session_state[LOADED]
    tasks.dismiss(f"load {dataset}")
    if mine:
        options = mine_button.last_options(dataset_state(session.store(), dataset))
        mine_button.start(dataset, options)
        st.session_state[NEXT] = "diagnose"
    if details:
        st.session_state[NEXT] = "details"
    st.rerun(scope="app")


def _draw_source() -> Source | None:
    """Draw the choice of files."""
    roots = import_roots(session.settings(), st.get_option("server.address"))
    ways = [_UPLOAD, _UPLOAD_FOLDER]
    if roots:
        ways.append(_SERVER)
    way = st.segmented_control(
        "Annotations from", ways, default=_UPLOAD, required=True, key="_import_from"
    )
    if way == _SERVER:
        return _draw_server_folder(roots)

    # Before the place for files is drawn: files that come earlier are refused.
    accept_uploads()
    if way == _UPLOAD_FOLDER:
        files = st.file_uploader(
            "Folder with annotations",
            DATA_ENDINGS,
            accept_multiple_files="directory",
            key="_import_folder",
            help=f"Only files that end in {', '.join(DATA_ENDINGS)} are sent.",
        )
    else:
        formats = "; ".join(f"{name}: {reader.purpose}" for name, reader in FORMATS.items())
        files = st.file_uploader(
            "Annotation file, or the dataset as a ZIP; and the classes or captions beside it",
            accept_multiple_files=True,
            key="_import_files",
            help=f"The format is found from the content: {formats}",
        )
    return Uploads(tuple(files)) if files else None


def _draw_server_folder(roots: Sequence[Path]) -> Source:
    left, right = st.columns(2)
    root = left.selectbox("Folder on the server", roots, key="_import_root")

    path = right.text_input(
        "Folder or file in it",
        key="_import_path",
        placeholder="such as coco/annotations; empty for the folder itself",
    )
    return ServerFolder.at(inside(path or ".", root))


def _draw_file_choice(source: Source) -> tuple[FoundFile, list[FoundFile]] | None:
    """Draw the choice of the annotation file; return it with the other files."""
    files = cached_by_files(source, ("files",), source.files)
    readable = [file for file in files if file.format is not None]
    # The likeliest format first, unless a file on the server was named.
    if not isinstance(source, ServerFolder) or source.file is None:
        order = list(FORMATS)
        readable.sort(key=lambda file: order.index(file.format or ""))

    if not readable:
        _draw_files(files)
        empty_state(
            "No annotation file here",
            "Choose a table (CSV, TSV, Parquet, JSON lines), a file of a labelling tool, or the "
            "dataset as a ZIP; the question mark above lists all formats.",
        )
        return None

    if len(files) > 1:
        _draw_files(files)
        file = st.selectbox(
            "Annotation file",
            readable,
            format_func=lambda file: f"{_NAMES.get(file.name, file.name)} ({file.format})",
            key=f"_import_file {hash(source.identity)}",
            help="The others can say what an image's class is, or what to look for in captions.",
        )
    else:
        (file,) = readable
    others = [other for other in files if other != file and other.name != WHOLE_FOLDER]
    return file, [other for other in others if not other.fault]


def _draw_files(files: Sequence[FoundFile]) -> None:
    """Draw the files with their formats, or why they cannot be read."""
    rows = [
        (file.name, file.format or file.fault or "text", file.size_bytes)
        for file in files
        if file.name != WHOLE_FOLDER
    ]
    size = st.column_config.NumberColumn(format="bytes", width="small")
    draw_table(pd.DataFrame(rows, columns=["File", "Format", "Size"]), 320, {"Size": size})


def _is_current(source: Source, request: ImportRequest | None) -> bool:
    """Whether the last check is of these files and options."""
    check: _Check | None = st.session_state.get(_CHECK)
    return check is not None and (check.identity, check.request) == (source.identity, request)


def _draw_check_button(*, again: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Check again" if again else "Check",
            type=button_type(not again),
            icon=":material/fact_check:",
            key="_import_go",
            on_click=lambda: st.session_state.update({_REQUESTED: True}),
        )
        st.caption("Reads the whole file and writes nothing.")


def _check_with_pattern(pattern: str) -> None:
    """Check again, with a path pattern that the last check has offered."""
    st.session_state.update({PATTERN: pattern, _REQUESTED: True})


def _start_check(source: Source, request: ImportRequest) -> None:
    """Start a check in the background, in place of the one before."""
    _forget_check()
    file = source.path / request.file if isinstance(source, ServerFolder) else None
    check = _Check(f"check {uuid.uuid4()}", source.identity, request, file)
    store = session.store()

    def work(progress: Progress) -> str:
        check.result = check_import(source, request, store, progress)
        return ""

    st.session_state[_CHECK] = check
    tasks.start(check.key, f"Checking {request.file}", work)


def _forget_check() -> None:
    check: _Check | None = st.session_state.pop(_CHECK, None)
    if check is not None and (task := tasks.find(check.key)) is not None:
        task.cancel()
        tasks.dismiss(check.key)


def _draw_outcome(source: Source | None, request: ImportRequest | None) -> None:
    """Draw the result of the check, with a button to load."""
    check: _Check | None = st.session_state.get(_CHECK)
    if check is None:
        return
    # A check that went well is silent, as its result follows.
    task = tasks.find(check.key)
    if task is not None and not task.is_running and task.error is None:
        tasks.dismiss(check.key)
    elif show_task(check.key):
        return

    result = check.result
    if result is None:
        return
    # Without files on the page the result of the last ones stands.
    if source is not None and not _is_current(source, request):
        st.caption("The files or options are no longer those of the last check. Check again.")
        return

    fault = result.nothing_to_compare()
    if fault is None:
        _draw_load_button(check, result)
        return
    st.error(escape(fault), icon=":material/block:")
    checked.draw(result, _check_with_pattern)


def _draw_load_button(check: _Check, result: CheckedImport) -> None:
    """Draw the button that loads, above all that the check says."""
    agreed = checked.ask_agreement(result, check.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        load = st.button(
            f"Load into {escape(shorten(check.request.dataset))}",
            type="primary",
            icon=":material/download:",
            key="_import_load",
            disabled=not agreed,
        )
        changes = result.changes
        if not (changes.created or changes.updated or changes.deleted):
            st.caption("That would change nothing.")

    checked.draw_proof(result.proof, check.request.dataset, check.file)
    checked.draw(result, _check_with_pattern)

    if load:
        _start_load(result, check.file)
        _forget_check()
        st.rerun(scope="app")


def _start_load(result: CheckedImport, file: Path | None) -> None:
    """Start the load in the background; the page chooses the dataset when it has ended."""
    # Read here: the thread that works has no session.
    store, settings = session.store(), session.settings()
    folders = settings.folders()
    roots = import_roots(settings, st.get_option("server.address"))
    request, name = result.request, result.request.dataset

    def work(progress: Progress) -> str:
        report = load_dataset(
            store,
            folders,
            name,
            result.annotations,
            request.sample,
            source=Path(request.file).name or name,
            if_exists=request.if_exists,
            progress=progress,
        )
        images = find_images(
            folders,
            name,
            result.annotations,
            file,
            append=request.if_exists == "append",
            within=roots,
            progress=progress,
        )
        return f"{describe_load(name, report)} {render(images.describe(), in_app)}"

    tasks.start(f"load {name}", f"Loading {name}", work)
    st.session_state[LOADING] = name
