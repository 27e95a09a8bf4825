"""Progress of long operations: a bar in a notebook, lines on standard error elsewhere."""

import sys
import time
from typing import Any

from cobalance.base import Progress, silent
from cobalance.base.safe_text import safe_text
from cobalance.notebook.display import bar_html, card


def open_progress(*, quiet: bool = False, notebook_only: bool = False) -> Progress:
    """A bar in a notebook; elsewhere each stage on standard error, once; nothing if `quiet`."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # Only a notebook's shell has a kernel; IPython in a terminal has none.
    in_notebook = hasattr(shell, "kernel")
    if quiet or (notebook_only and not in_notebook):
        return silent
    if in_notebook:
        return NotebookBar(shell)
    return Announcer()


class Announcer:
    """Print each stage of a long operation on standard error, once."""

    def __init__(self) -> None:
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:  # noqa: ARG002
        """Take a report, see `cobalance.base.progress.Progress`."""
        if stage != self._stage:
            self._stage = stage
            print(f"{safe_text(stage)} …", file=sys.stderr)  # noqa: T201


class NotebookBar:
    """Draw one bar below a cell, in HTML that needs no widgets; it goes when the cell has run."""

    def __init__(self, shell: Any) -> None:
        self._shown: Any = None
        self._stage, self._drawn_at = "", 0.0
        shell.events.register("post_run_cell", self._clear)

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Take a report, see `cobalance.base.progress.Progress`."""
        now = time.monotonic()
        # Drawing more often would slow down what is reported.
        if stage != self._stage or now > self._drawn_at + 0.1:
            self._stage, self._drawn_at = stage, now
            title, share = f"{stage} …", 0.0
            if total is not None:
                title = f"{stage}: {done:,} of {total:,}"
            if total:
                share = done / total
            self._draw(card(title, bar_html(share)))

    def _draw(self, html: str) -> None:
        if self._shown is None:
            show = sys.modules["IPython.display"].display
            self._shown = show({"text/html": html}, raw=True, display_id=True)
        else:
            self._shown.update({"text/html": html}, raw=True)

    def _clear(self, *_: object) -> None:
        if self._shown is not None:
            self._draw("")
            self._shown = None
