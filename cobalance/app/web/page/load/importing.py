"""Import annotations: choose files, see how they are read, load."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from cobalance.app.web.components import mine_button
from cobalance.app.web.page.load import checked
from cobalance.app.web.page.load.chosen_file import cached_by_files
from cobalance.app.web.page.load.import_form import PATTERN, import_form
from cobalance.app.web.server.streamlit_internals import has_lost_files
from cobalance.app.web.state import accept_uploads, import_folders, require_editor, session, tasks
from cobalance.app.web.widgets import (
    empty_state,
    errors_shown,
    escape,
    in_app,
    show_task,
)
from cobalance.base import Progress, render
from cobalance.graph import dataset_state
from cobalance.ingest import DATA_ENDINGS, FORMATS, WHOLE_FOLDER, FoundFile, PackedPictures
from cobalance.workflows import (
    EVERYWHERE,
    CheckedImport,
    ImportRequest,
    ServerFolder,
    Source,
    Uploads,
    check_import,
    describe_load,
    find_images,
    inside_any,
    load_dataset,
)

# The dataset that this session loads, until the page has chosen it.
LOADING = "_loading"
# The dataset that this session has loaded, until the person goes on.
LOADED = "_loaded"
# Where the person goes on to: details or diagnose.
NEXT = "_loaded_next"
# Whether the dataset is mined once it is loaded, and then diagnosed.
_DIAGNOSE = "_loading_diagnose"
_CHECK = "_import_check"
_UPLOADS = "_import_uploads"
# How often the app has lost the files that a browser shows.
_LOST = "_import_lost"

_NAMES = {WHOLE_FOLDER: "All of them"}
_UPLOAD, _UPLOAD_FOLDER, _SERVER = "Files", "A folder", "On the server"


@dataclass
class _Check:
    """A running or finished check of a source, and its result."""

    key: str
    source: Source
    request: ImportRequest
    result: CheckedImport | None = None

    @property
    def file(self) -> Path | None:
        """Where the annotations stay; None for an upload."""
        if isinstance(self.source, Uploads):
            return None
        return self.source.path / self.request.file

    @property
    def load_key(self) -> str:
        """Key of the loading task."""
        return f"load {self.request.dataset}"


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
        files = None if source is None else _draw_file_choice(source)
        key = shown_task()
        if source is None or files is None:
            # What is loading goes on without the files on the page.
            if key is not None:
                show_task(key)
            return

        form, outcome = st.columns([4, 3], gap="medium")
        with form:
            request = import_form(source, *files)
            if not _is_current(source, request):
                _start_check(source, request)
        with outcome:
            _draw_outcome()


def shown_task() -> str | None:
    """Key of the load that is drawn beside the form, if there is one."""
    check: _Check | None = st.session_state.get(_CHECK)
    return None if check is None else check.load_key


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
    roots = import_folders()
    is_own = EVERYWHERE in roots
    ways = [_UPLOAD, _UPLOAD_FOLDER]
    if roots:
        ways.append(_SERVER)
    way = st.segmented_control(
        "Annotations from",
        ways,
        default=_UPLOAD,
        required=True,
        key="_import_from",
        format_func=lambda way: "On this machine" if way == _SERVER and is_own else way,
    )
    if way == _SERVER:
        return _draw_server_folder(roots)

    # Before the place for files is drawn: files that come earlier are refused.
    accept_uploads()
    lost = st.session_state.setdefault(_LOST, 0)
    key = "_import_folder" if way == _UPLOAD_FOLDER else "_import_files"
    if lost:
        key = f"{key} {lost}"
        st.info(
            "The app was restarted, or the connection to it broke, and it no longer has the files "
            "that you chose. Choose them again."
        )

    if way == _UPLOAD_FOLDER:
        files = st.file_uploader(
            "Folder with annotations",
            DATA_ENDINGS,
            accept_multiple_files="directory",
            key=key,
            help=f"Only files that end in {', '.join(DATA_ENDINGS)} are sent.",
        )
    else:
        formats = "; ".join(f"{name}: {reader.purpose}" for name, reader in FORMATS.items())
        files = st.file_uploader(
            "Annotation file, or the dataset as a ZIP; and the classes, captions or a ZIP of the "
            "pictures beside it",
            accept_multiple_files=True,
            key=key,
            help=f"The format is found from the content: {formats}",
        )

    if has_lost_files(key):
        # Another place for files: this one shows them as if they were here.
        st.session_state[_LOST] = lost + 1
        st.rerun()
    return _uploads(files) if files else None


def _uploads(files: Sequence[Any]) -> Uploads:
    """The chosen files, written to disk when they are first seen."""
    uploads: Uploads | None = st.session_state.get(_UPLOADS)
    if uploads is None or uploads.identity != tuple(file.file_id for file in files):
        with st.spinner("Looking at the files"):
            uploads = st.session_state[_UPLOADS] = Uploads(files)
    return uploads


def _draw_server_folder(roots: Sequence[Path]) -> Source:
    label = "Folder or file"
    if EVERYWHERE not in roots:
        left, right = st.columns(2)
        roots = [left.selectbox("Folder on the server", roots, key="_import_root")]
        label = "Folder or file in it"
    else:
        right = st.container()

    path = right.text_input(
        label,
        key="_import_path",
        placeholder=f"such as coco/annotations; empty for {roots[0]}",
    )
    return ServerFolder.at(inside_any(path or ".", roots))


def _draw_file_choice(source: Source) -> tuple[FoundFile, list[FoundFile]] | None:
    """Draw the choice of the annotation file; return it with the other files."""
    files = cached_by_files(source, ("files",), source.files)
    readable = [file for file in files if file.format is not None]
    # The likeliest format first, unless a file on the server was named.
    if not isinstance(source, ServerFolder) or source.file is None:
        order = list(FORMATS)
        readable.sort(key=lambda file: order.index(file.format or ""))

    for other in files:
        # An archive beside the annotations has their pictures.
        if other.fault and not (readable and other.name.lower().endswith((".tar", ".zip"))):
            st.caption(escape(f"{other.name} {other.fault}."))

    if not readable:
        empty_state(
            "No annotation file here",
            "Choose a table (CSV, TSV, Parquet, JSON lines), a file of a labelling tool, or the "
            "dataset as a ZIP; the question mark above lists all formats.",
        )
        return None

    file = readable[0]
    if len(files) > 1:
        file = st.selectbox(
            "Annotation file",
            readable,
            format_func=lambda file: f"{_NAMES.get(file.name, file.name)} ({file.format})",
            key=f"_import_file {hash(source.identity)}",
            help="The others can say what an image's class is, or what to look for in captions.",
        )
    others = [other for other in files if other != file and other.name != WHOLE_FOLDER]
    return file, [other for other in others if not other.fault]


def _is_current(source: Source, request: ImportRequest) -> bool:
    """Whether the last check is of these files and options."""
    check: _Check | None = st.session_state.get(_CHECK)
    if check is None:
        return False
    return (check.source.identity, check.request) == (source.identity, request)


def _check_with_pattern(pattern: str) -> None:
    """Have the form take a path pattern that the last check has offered."""
    st.session_state[PATTERN] = pattern


def _start_check(source: Source, request: ImportRequest) -> None:
    """Start a check in the background, in place of the one before."""
    _forget_check()
    check = _Check(f"check {uuid.uuid4()}", source, request)
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


def _draw_outcome() -> None:
    """Draw the result of the check, with the buttons to load."""
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
    fault = result.nothing_to_compare()
    if fault is not None:
        st.error(escape(fault), icon=":material/block:")
    else:
        _draw_load(check, result)
    checked.draw(result, _check_with_pattern)


def _draw_load(check: _Check, result: CheckedImport) -> None:
    """Draw warnings, the buttons for loading, and the progress below."""
    warnings, buttons = st.container(), st.container()
    checked.draw_proof(result, check.source, check.file, warnings)
    with warnings:
        is_agreed = checked.ask_agreement(result, check.key)
        keeps_pictures = checked.ask_room(result.pictures, check.key)

    is_busy = tasks.is_running(check.load_key)
    with buttons:
        with st.container(horizontal=True, vertical_alignment="center"):
            diagnose = st.button(
                "Load and diagnose",
                type="primary",
                icon=":material/balance:",
                key="_import_diagnose",
                disabled=is_busy or not is_agreed,
            )
            load = st.button(
                "Load",
                icon=":material/download:",
                key="_import_load",
                disabled=is_busy or not is_agreed,
            )
            changes = result.changes
            if not (changes.created or changes.updated or changes.deleted):
                st.caption("That would change nothing.")
        show_task(check.load_key)

    if load or diagnose:
        pictures = result.pictures if keeps_pictures else PackedPictures()
        _start_load(check, replace(result, pictures=pictures), diagnose=diagnose)
        st.rerun(scope="app")


def _start_load(check: _Check, result: CheckedImport, *, diagnose: bool) -> None:
    """Start the load in the background; the page chooses the dataset when it has ended."""
    # Read here: the thread that works has no session.
    store, folders, roots = session.store(), session.settings().folders(), import_folders()
    request, name = result.request, result.request.dataset

    def work(progress: Progress) -> str:
        with check.source.open_files():
            report = load_dataset(
                store,
                folders,
                name,
                result.annotations,
                request.sample,
                source=Path(request.file).name or name,
                if_exists=request.if_exists,
                pictures=result.pictures,
                progress=progress,
            )

        images = find_images(
            folders,
            name,
            result.annotations,
            check.file,
            append=request.if_exists == "append",
            within=roots,
            progress=progress,
        )

        if diagnose:
            options = mine_button.last_options(dataset_state(store, name))
            mine_button.mine_now(store, name, options, progress)
        return f"{describe_load(name, report)} {render(images.describe(), in_app)}"

    tasks.start(check.load_key, f"Loading {name}", work)
    st.session_state.update({LOADING: name, _DIAGNOSE: diagnose})


def end_load(name: str) -> None:
    """Say that a dataset of this session is loaded, or go on to diagnose it."""
    _forget_check()
    if st.session_state.pop(_DIAGNOSE, False):
        st.session_state[NEXT] = "diagnose"
        tasks.dismiss(f"load {name}")
    else:
        st.session_state[LOADED] = name
