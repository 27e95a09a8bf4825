"""Progress bars on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import typer

from cobalance.app.cli.shared.terminal import Terminal
from cobalance.base import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


class Stages:
    """Progress callback that draws a bar with a clock for each stage under way.

    A finished stage is replaced by the next one, and so is a stage that is silent while another
    reports twice; stages that alternate, such as jobs, are drawn below each other.

    Parameters
    ----------
    bars : rich.progress.Progress
        Where they are drawn.
    lines : bool
        Print a line for each stage, too, where bars are not drawn.

    Examples
    --------
    >>> from rich.progress import Progress as Bars
    >>> bars = Bars(disable=True)
    >>> report = Stages(bars)
    >>> for stage, done in [("read", 0), ("read", 9), ("job a", 1), ("job b", 0), ("job a", 2)]:
    ...     report(stage, done, 9)
    >>> [(task.description, task.completed) for task in bars.tasks]
    [('job a', 2), ('job b', 0)]
    """

    def __init__(self, bars: "Bars", *, lines: bool = False) -> None:
        self._bars = bars
        self._lines = lines
        self._reports = count()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Report progress, see `cobalance.base.progress.Progress`."""
        bars = self._bars.tasks
        drawn = next((bar for bar in bars if bar.description == stage), None)
        for bar in bars:
            is_over = bar.total is None or bar.completed >= bar.total
            # This stage reports for the second time since the other one has reported.
            is_silent = drawn is not None and bar.fields["report"] < drawn.fields["report"]
            if bar is not drawn and (is_over or is_silent):
                self._bars.remove_task(bar.id)

        values: dict[str, Any] = {
            "total": total,
            "completed": done,
            "count": "" if total is None else f"{done:,}/{total:,}",
            "report": next(self._reports),
        }
        if drawn is not None:
            self._bars.update(drawn.id, **values)
        else:
            if self._lines:
                self._bars.console.print(f"{stage} …")
            self._bars.add_task(stage, **values)


@contextmanager
def progress_bars(*, lines: bool = False) -> Iterator[Progress]:
    """Open a progress callback that draws bars in a terminal, and elsewhere `lines` or nothing."""
    from rich.progress import (
        BarColumn,
        Progress as Bars,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Terminal(stderr=True)
    with Bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:
        try:
            yield Stages(bars, lines=lines and not console.is_terminal)
        except KeyboardInterrupt:
            bars.stop()
            console.print("Interrupted. Run the same command again: it goes on where it stopped.")
            raise typer.Exit(130) from None
