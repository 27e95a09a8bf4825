"""What all commands share: the store they open, how they print, the options that mean the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app.output import Format
from app.progress import progress_bars
from app.services import open_store
from app.settings import Settings
from graph.progress import Progress
from graph.store import GraphStore

out = Console(highlight=False, soft_wrap=False)
notes = Console(stderr=True, highlight=False, soft_wrap=True)

DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="Name of a dataset.")]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How to write the result.", show_default=True)
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file, not to standard output."),
]


@contextmanager
def opened_store() -> Iterator[tuple[GraphStore, Progress]]:
    """Open the store that the environment names, with bars for what takes long."""
    settings = Settings.from_environment()
    with progress_bars() as progress, open_store(settings, progress) as store:
        yield store, progress
