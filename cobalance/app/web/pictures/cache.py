"""Least-recently-used cache of pictures on disk, safe for many threads and processes."""

import contextlib
import os
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from cobalance.base import CobalanceError, replacing

LIMIT_BYTES = 2_000_000_000

# The time of last use is updated no more often.
_FRESH_S = 3600.0
# Share of the limit that is kept when it is exceeded.
_KEPT = 0.85


class PictureCache:
    """Disk cache of bytes by key.

    Each process checks the total whenever it has written a twentieth of the limit, and can exceed
    the limit by that much. The folder is for the cache alone, and created when needed; if it cannot
    be written, nothing is cached.
    """

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._folder, self._limit = folder, limit_bytes
        self._lock = threading.Lock()
        # Bytes written since the last check: of a limit, so that the first write checks.
        self._unseen = limit_bytes

    def get(self, key: str) -> bytes | None:
        """Read the bytes of a key; None if they are not cached."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                age_s = time.time() - os.fstat(file.fileno()).st_mtime
                if age_s > _FRESH_S:
                    with contextlib.suppress(OSError):
                        os.utime(path)
                return file.read()
        except OSError:
            return None

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        path = self._path(key)
        with contextlib.suppress(OSError, CobalanceError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with replacing(path) as part:
                part.write_bytes(content)

            with self._lock:
                self._unseen += len(content)
                is_due = self._unseen > self._limit / 20
                if is_due:
                    self._unseen = 0
            if is_due:
                self._make_room()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]

    def _make_room(self) -> None:
        """Delete the files that were not used for the longest time, if the limit is exceeded."""
        # Another process that has the lock does the same.
        with contextlib.suppress(Timeout), FileLock(self._folder / ".lock", timeout=0):
            files = sorted(self._files())
            excess = sum(size for _, size, _ in files) - self._limit
            if excess <= 0:
                return

            # More than the excess, so that it is not soon due again.
            excess += int(self._limit * (1 - _KEPT))
            for _, size, path in files:
                if excess <= 0:
                    break
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
                excess -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """Last use, size and path of each file."""
        files = []
        for path in self._folder.glob("*/*"):
            # Another process may have deleted it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                status = path.lstat()
                files.append((status.st_mtime, status.st_size, path))
        return files
