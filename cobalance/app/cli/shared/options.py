"""Shared by all commands: consoles, common options, and opening the store."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.tables import Format
from cobalance.app.cli.shared.terminal import Terminal
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError
from cobalance.graph.names import clean_name
from cobalance.graph.progress import Progress
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

if TYPE_CHECKING:
    from cobalance.ingest.stored.output_folder import OutputFolder


out = Terminal(highlight=False, markup=False, emoji=False)
if not out.is_terminal and "COLUMNS" not in os.environ:
    out.width = 10_000  # a line for a row, so that grep finds all of it
notes = Terminal(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def cleaned(name: str | None) -> str | None:
    """A name that was typed, as the graph has it."""
    return None if name is None else clean_name(name)


DatasetName = Annotated[
    str, typer.Argument(metavar="DATASET", help="Name of a dataset.", callback=cleaned)
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How to write the result.", show_default=True)
]


def _check_output(context: typer.Context, output: Path | None) -> Path | None:
    """Refuse Parquet without an output file, before any work; options that are given come first."""
    if output is None and context.params.get("format_") == Format.PARQUET:
        raise OptionError("Parquet is not text. Name a file with --output FILE.")
    return output


OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write to this file, not to standard output.", callback=_check_output
    ),
]
ALL_JOBS = 1 << 31  # as a limit


def assignments_option(flag: str, purpose: str) -> typer.models.OptionInfo:
    """Declare a repeatable option that takes NAME=VALUE; `assignments.assign` reads it."""
    option: typer.models.OptionInfo = typer.Option(
        flag, metavar="NAME=VALUE", help=f"{purpose} Repeat it."
    )
    return option


_KEPT: ContextVar[GraphStore | None] = ContextVar("the store of the command", default=None)


def kept_store(context: typer.Context) -> GraphStore:
    """Open the store that the environment names, until the command ends."""
    store = _KEPT.get()
    return context.find_root().with_resource(_keep_store()) if store is None else store


@contextmanager
def _keep_store() -> Iterator[GraphStore]:
    with ExitStack() as stack:
        with progress_bars() as progress:
            store = stack.enter_context(open_store(Settings.from_environment(), progress))
        token = _KEPT.set(store)
        stack.callback(_KEPT.reset, token)
        yield store


@contextmanager
def opened_store() -> Iterator[tuple[GraphStore, Progress]]:
    """Open the store that the environment names, or the command's own, with progress bars."""
    kept = _KEPT.get()
    with progress_bars() as progress:
        if kept is not None:
            yield kept, progress
        else:
            with open_store(Settings.from_environment(), progress) as store:
                yield store, progress


def note_limit(limit: int) -> None:
    """Note that only the first rows are shown."""
    rows = "row is" if limit == 1 else f"{limit:,} rows are"
    notes.print(f"Only the first {rows} shown; see --limit.")


def listed_names(groups: Sequence[str] | None) -> tuple[str, ...] | None:
    """Groups from an option: one with commas, or one a time.

    Examples
    --------
    >>> listed_names(["woman, man"]), listed_names(["a, b", "c"])
    (('woman', 'man'), ('a, b', 'c'))
    """
    if not groups:
        return None
    names = groups[0].split(",") if len(groups) == 1 else groups
    return tuple(map(clean_name, names))


def read_clique(text: str) -> tuple[str, ...]:
    """Concepts of a clique as tables show it, or from JSON.

    Examples
    --------
    >>> read_clique("cow + road"), read_clique('["c + d"]')
    (('cow', 'road'), ('c + d',))
    """
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(name, str) for name in found):
            return tuple(map(clean_name, found))
        raise OptionError(f'--clique {text!r} is no list of names in JSON, such as ["a", "b"].')
    return tuple(map(clean_name, text.split(" + ")))


def output_folder() -> "OutputFolder":
    """The output folder of workers."""
    return Settings.from_environment().folders().open_output()
