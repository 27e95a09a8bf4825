"""How long work reports where it is: the command line draws bars, a library call nothing."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a stage's name, how much is done, and how much there is (None when unknown)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""
