"""Progress bars on standard error, for a person who watches."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from graph.progress import Progress


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Draw each stage that is reported as a bar; nothing where nobody watches."""
    console = Console(stderr=True)
    with Bars(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            for known, task in tasks.items():
                if known != stage and not bars.tasks[task].finished:
                    bars.update(task, visible=False)
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total, visible=True)

        try:
            yield report
        except KeyboardInterrupt:
            bars.stop()
            console.print("Interrupted. Run the same command again: it goes on where it stopped.")
            raise typer.Exit(130) from None
