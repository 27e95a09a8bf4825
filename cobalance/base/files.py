"""Files and folders that only their user can read, and files that are written whole or not."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cobalance.base.errors import (
    CobalanceError,
    ConflictError,
    InputError,
    OptionError,
    Setting,
)

_OWN_FOLDER, _OWN_FILE = 0o700, 0o600
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""zipfile unpacks a piece of any other at once, however much that is."""


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents for this user alone.

    A folder that exists keeps its permissions: one that was made for a group stays theirs.
    """
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    # One by one from the outermost: `parents=True` would give the parents other permissions.
    for parent in reversed(missing):
        parent.mkdir(mode=_OWN_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Create an empty file for this user alone, unless it exists."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWN_FILE))


def check_new_file(file: Path, example: str, *, overwrite: bool) -> None:
    """Raise for a file that is not to be written; `example` is a name for one in a folder.

    Raises
    ------
    ConflictError
        It exists and is not to be overwritten.
    OptionError
        It is a folder.
    """
    if file.is_dir():
        raise OptionError(f"{file} is a folder. Name a file, such as {file / example}.")
    if file.exists() and not overwrite:
        raise ConflictError(
            f"{file} exists. Name another file, or replace it (", Setting("overwrite"), ")."
        )


def read_within(file: Path, most_bytes: int, kind: str, remedy: str) -> bytes:
    """Read a file of at most so many bytes; `kind` is what it should be, as ``"a baseline"``.

    Raises
    ------
    InputError
        It cannot be read, or is larger.
    """
    try:
        if file.stat().st_size > most_bytes:
            raise InputError(str(file), None, f"is too large for {kind}", remedy)
        return file.read_bytes()
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise InputError(str(file), None, reason, remedy) from error


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a path to write to; its file takes the target's place when the block ends.

    A pipe or another target that is no file is written to itself. Raises CobalanceError where it
    cannot be written, as on a full disk; an earlier file then stays.
    """
    is_file = target.is_file() or not target.exists()
    place = path = target
    if is_file:
        # A link stays one: the file that it leads to is replaced.
        place = target.resolve()
        path = place.with_name(f".{place.name}.{os.urandom(8).hex()}.tmp")

    try:
        yield path
        if is_file:
            os.replace(path, place)
    except OSError as error:
        raise CobalanceError(
            f"{target}: {error.strerror or error}. Name a file that can be written."
        ) from error
    finally:
        if is_file:
            path.unlink(missing_ok=True)
