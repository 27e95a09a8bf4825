"""Image file that has been found, and the error of one that cannot be used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn, TypeGuard

from cobalance.base import CobalanceError

MAX_BYTES = 200_000_000
"""Largest image file that is read."""


class ImageFileError(CobalanceError):
    """An image file that cannot be found, read or decoded; the message is a sentence or two."""


@dataclass(frozen=True)
class ImageFile:
    """An image file that has been found.

    `identity` is a key for caches; it changes with the path, size, modification time or tag.
    `open` opens the file's content, or raises any error of its file system.
    """

    identity: str
    open: Callable[[], BinaryIO] = field(compare=False)

    def read(self) -> bytes:
        """Read the whole content; ImageFileError where that fails."""
        try:
            with self.open() as file:
                content = file.read(MAX_BYTES + 1)
        except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
            refuse(error)
        check_size(len(content))
        return content


def check_size(n_bytes: int) -> None:
    """Raise ImageFileError for a file of more than `MAX_BYTES`."""
    if n_bytes > MAX_BYTES:
        raise ImageFileError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")


def is_failure(cause: BaseException | None) -> TypeGuard[Exception]:
    """Whether a "missing" file is a failed server: fsspec reports both alike for HTTP."""
    if isinstance(cause, OSError):
        return not isinstance(cause, (FileNotFoundError, NotADirectoryError))
    status = getattr(cause, "status", None)
    return isinstance(cause, ImageFileError) or status not in (None, 404, 410)


def refuse(error: Exception) -> NoReturn:
    """Translate an error of a file system to an ImageFileError."""
    if isinstance(error, FileNotFoundError) and is_failure(error.__cause__):
        error = error.__cause__
    if isinstance(error, CobalanceError):
        raise error

    reason = type(error).__name__
    if isinstance(error, PermissionError):
        reason = "Permission denied"
    elif isinstance(error, (ImportError, ValueError)):
        # A protocol that is not installed, or not known.
        reason = str(error)
    elif (status := getattr(error, "status", None)) is not None:
        reason = f"the server answers with status {status}"
    elif isinstance(error, OSError):
        reason = error.strerror or reason
    raise ImageFileError(f"The file cannot be read: {reason}.") from error
