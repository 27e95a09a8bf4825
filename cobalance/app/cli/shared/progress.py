"""Progress bars on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from rich.progress import (
    BarColumn,
    Progress as Bars,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from cobalance.app.cli.shared.terminal import Terminal
from cobalance.graph.progress import Progress


@dataclass(frozen=True)
class _Bar:
    """A stage's bar, its progress, and the number of its last report."""

    bar: TaskID
    done: int
    total: int | None
    report: int

    @property
    def is_over(self) -> bool:
        """Whether it can go as soon as another stage reports."""
        return self.total is None or self.done >= self.total


class Stages:
    """Progress callback that draws a bar with a clock for each stage under way.

    A finished stage is replaced by the next one, and so is a stage that is silent while another
    reports twice; stages that alternate, such as jobs, are drawn below each other.

    Parameters
    ----------
    bars : rich.progress.Progress
        Where they are drawn.

    Examples
    --------
    >>> bars = Bars(disable=True)
    >>> report = Stages(bars)
    >>> for stage, done in [("read", 0), ("read", 9), ("job a", 1), ("job b", 0), ("job a", 2)]:
    ...     report(stage, done, 9)
    >>> [(task.description, task.completed) for task in bars.tasks]
    [('job a', 2), ('job b', 0)]
    """

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._drawn: dict[str, _Bar] = {}
        self._reports = 0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Report progress, see `cobalance.graph.progress.Progress`."""
        self._reports += 1
        drawn = self._drawn.get(stage)
        for name, other in list(self._drawn.items()):
            silent = drawn is not None and other.report < drawn.report
            if name != stage and (other.is_over or silent):
                self._remove(name)
        count = "" if total is None else f"{done:,}/{total:,}"
        if drawn is None:
            bar = self._bars.add_task(stage, total=total, completed=done, count=count)
        else:
            bar = drawn.bar
            self._bars.update(bar, completed=done, total=total, count=count)
        self._drawn[stage] = _Bar(bar, done, total, self._reports)

    def _remove(self, stage: str) -> None:
        self._bars.remove_task(self._drawn.pop(stage).bar)


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Open a progress callback that draws bars in a terminal, and nothing elsewhere."""
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
            yield Stages(bars)
        except KeyboardInterrupt:
            bars.stop()
            console.print("Interrupted. Run the same command again: it goes on where it stopped.")
            raise typer.Exit(130) from None
