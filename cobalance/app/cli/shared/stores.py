"""Open the store and the output folder that the environment names."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

import typer

from cobalance.app.cli.shared.completion import keep_names
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.base import Progress
from cobalance.graph.database import store as stores
from cobalance.vision.stored import output_folder as output_folders
from cobalance.workflows import folders as folder_places, settings, store as access

_KEPT: ContextVar["stores.GraphStore | None"] = ContextVar("the store of the command", default=None)


def read_environment() -> "settings.Settings":
    """Read the settings from the environment."""
    return settings.Settings.from_environment()


def folders() -> "folder_places.Folders":
    """The folders that the environment names."""
    return read_environment().folders()


def kept_store(context: typer.Context) -> "stores.GraphStore":
    """Open the store that the environment names, until the command ends."""
    store = _KEPT.get()
    if store is None or store.is_closed:
        with progress_bars() as progress:
            opened = access.open_store(read_environment(), progress)
        store = context.find_root().with_resource(opened)
        _KEPT.set(store)
    return store


@contextmanager
def opened_store(*, lines: bool = False) -> "Iterator[tuple[stores.GraphStore, Progress]]":
    """Open the store that the environment names, or the command's own; see `progress_bars`."""
    shared = _KEPT.get()
    if shared is not None and shared.is_closed:
        shared = None

    with progress_bars(lines=lines) as progress:
        store = shared or access.open_store(read_environment(), progress)
        # The command's own store stays open: whoever opened it closes it.
        with nullcontext() if shared else store:
            yield store, progress
            keep_names(store, folders().home)


def output_folder() -> "output_folders.OutputFolder":
    """The output folder of workers."""
    return folders().open_output()
