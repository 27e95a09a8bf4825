"""Progress callbacks of long operations; silent by default."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a stage's name, the number of items done, and the total (None if unknown)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Ignore progress."""
