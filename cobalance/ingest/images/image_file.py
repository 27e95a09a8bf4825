"""Image file that has been found, and the error of one that cannot be used."""

from collections.abc import Callable
from dataclasses import dataclass

from cobalance.graph.errors import CobalanceError

MAX_BYTES = 200_000_000
"""Largest image file that is read."""


class ImageFileError(CobalanceError):
    """An image file that cannot be found, read or decoded; the message is a sentence or two."""


@dataclass(frozen=True)
class ImageFile:
    """An image file that has been found; `read` returns its content or raises ImageFileError.

    `identity` is a key for caches; it changes with the path, size, modification time or tag.
    """

    identity: str
    read: Callable[[], bytes]


def check_size(n_bytes: int | None) -> None:
    """Raise ImageFileError for a file of more than `MAX_BYTES`; None is an unknown size."""
    if n_bytes is not None and n_bytes > MAX_BYTES:
        raise ImageFileError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
