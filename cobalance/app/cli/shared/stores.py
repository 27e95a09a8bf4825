"""Open the store and the output folder that the environment names."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer

from cobalance.app.cli.shared.completion import keep_names
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.graph.progress import Progress

if TYPE_CHECKING:
    from cobalance.graph.database.store import GraphStore
    from cobalance.ingest.stored.output_folder import OutputFolder
    from cobalance.workflows.folders import Folders
    from cobalance.workflows.settings import Settings

_KEPT: ContextVar["GraphStore | None"] = ContextVar("the store of the command", default=None)


def environment() -> "Settings":
    """The settings in the environment."""
    from cobalance.workflows.settings import Settings

    return Settings.from_environment()


def folders() -> "Folders":
    """The folders that the environment names."""
    return environment().folders()


def kept_store(context: typer.Context) -> "GraphStore":
    """Open the store that the environment names, until the command ends."""
    store = _KEPT.get()
    return context.find_root().with_resource(_keep_store()) if store is None else store


@contextmanager
def _keep_store() -> "Iterator[GraphStore]":
    from cobalance.workflows.store import open_store

    with ExitStack() as stack:
        with progress_bars() as progress:
            store = stack.enter_context(open_store(environment(), progress))
        token = _KEPT.set(store)
        stack.callback(_KEPT.reset, token)
        yield store


@contextmanager
def opened_store(*, lines: bool = False) -> "Iterator[tuple[GraphStore, Progress]]":
    """Open the store that the environment names, or the command's own; see `progress_bars`."""
    from cobalance.workflows.store import open_store

    kept = _KEPT.get()
    with progress_bars(lines=lines) as progress:
        opened = open_store(environment(), progress) if kept is None else nullcontext(kept)
        with opened as store:
            yield store, progress
            keep_names(store, folders().home)


def output_folder() -> "OutputFolder":
    """The output folder of workers."""
    return folders().open_output()
