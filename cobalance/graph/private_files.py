"""Create folders and files that only their user can read."""

import os
from contextlib import suppress
from pathlib import Path

_OWN_FOLDER, _OWN_FILE = 0o700, 0o600


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents for this user alone.

    A folder that exists keeps its permissions: one that was made for a group stays theirs.
    """
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(mode=_OWN_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Create an empty file for this user alone, unless it exists."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWN_FILE))
