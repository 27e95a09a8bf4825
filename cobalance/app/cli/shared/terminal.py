"""Consoles that print every text without credentials and control characters."""

import os
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from cobalance.base import show_controls
from cobalance.base.safe_text import safe_text


class Terminal(Console):
    """A rich console for texts that hold names, cells and addresses of others.

    All output, errors and progress bars of the command line go through one.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a text or cell without credentials, before it is measured."""
        return super().render_str(safe_text(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render anything else, such as a progress bar's description."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(show_controls(segment.text), segment.style)


def print_traceback(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback to standard error; for `sys.excepthook`."""
    sys.stderr.write(safe_text("".join(traceback.format_exception(kind, error, trace))))


out = Terminal(highlight=False, markup=False, emoji=False)
if not out.is_terminal and "COLUMNS" not in os.environ:
    # Each row is one line, so that grep finds all of it.
    out.width = 10_000
notes = Terminal(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
