"""Image folders that were added in the web app or found beside annotations, kept in the home."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock

from cobalance.graph.database.local.home import write_private
from cobalance.graph.errors import OptionError
from cobalance.graph.private_files import make_folder

FILE = "image_folders.json"


def read_added(home: Path) -> tuple[Path, ...]:
    """All that were added, in this order, whether they can still be used or not.

    Raises
    ------
    OptionError
        The file in the home cannot be read.
    """
    path = home / FILE
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise _unreadable(path, "it is no list of texts")
    return tuple(map(Path, found))


def usable(path: Path, within: Iterable[Path] | None) -> bool:
    """Whether an added place leads where it led when it was added, and is in one of the folders.

    Parameters
    ----------
    within : iterable of Path or None
        As COBALANCE_IMPORTS has them; None allows every place.
    """
    try:
        if path.resolve() != path:  # a link has taken its place since
            return False
    except (OSError, RuntimeError, ValueError):
        return False
    return within is None or any(
        path.is_relative_to(root.expanduser().resolve()) for root in within
    )


def change_added(home: Path, change: Callable[[tuple[Path, ...]], Iterable[Path]]) -> None:
    """Replace what was added by what a function makes of it, by one process at a time.

    Raises
    ------
    OptionError
        The file in the home cannot be read or written.
    """
    path = home / FILE
    try:
        make_folder(home)
        with FileLock(home / f".{FILE}.lock"):
            places = dict.fromkeys(map(str, change(read_added(home))))
            write_private(path, json.dumps(list(places), indent=1))
    except OSError as error:
        raise OptionError(
            f"{path}: it cannot be written ({error.strerror or error}). Make room there, or have "
            "COBALANCE_HOME name another folder."
        ) from error


def _unreadable(path: Path, why: str) -> OptionError:
    return OptionError(f"{path}: it cannot be read ({why}). Mend or delete it.")
