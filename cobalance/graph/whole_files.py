"""Files that are written as a whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cobalance.graph.errors import CobalanceError


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a path to write to; its file takes the target's place when the block ends.

    A pipe or another target that is no file is written to itself. Raises CobalanceError where it
    cannot be written, as on a full disk; an earlier file then stays.
    """
    is_file = target.is_file() or not target.exists()
    place = target.resolve() if is_file else target
    path = place.with_name(f".{secrets.token_hex(8)}.tmp") if is_file else place
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
