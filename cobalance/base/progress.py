"""Progress callbacks of long operations; silent by default."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Progress = Callable[[str, int, int | None], None]
"""Called with a stage's name, the number of items done, and the total (None if unknown)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Ignore progress."""


def track(
    progress: Progress, stage: str, items: Sequence[Item], every: int = 1
) -> Iterator[tuple[int, Item]]:
    """Number items from 0, and report how many are done: before some of them, and at the end.

    Examples
    --------
    >>> list(track(print, "read", ["a", "b"]))
    read 0 2
    read 1 2
    read 2 2
    [(0, 'a'), (1, 'b')]
    """
    for number, item in enumerate(items):
        if number % every == 0:
            progress(stage, number, len(items))
        yield number, item
    progress(stage, len(items), len(items))
