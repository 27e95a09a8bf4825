"""Staging folder of an export: written beside the target, and moved there once complete.

Files are digested once they are written; ``SHA256SUMS`` lists the digests for sha256sum.
"""

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec
from filelock import FileLock, Timeout

from cobalance.generation.export.options import ExportError
from cobalance.generation.export.overwriting import MARKER, SUMS, check_target


@dataclass(frozen=True, eq=False)
class Staging:
    """A staging folder.

    Parameters
    ----------
    files : dict of str to (str, int)
        Digest (SHA-256) and size in bytes of each file, by its path in the folder.
    opened : ExitStack
        Files that stay open between images; closed when the export ends or fails.
    """

    folder: Path
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)

    def write(self, name: str, data: bytes) -> None:
        """Write a file.

        Parameters
        ----------
        name : str
            Its path in the folder, with slashes; it must be new.
        """
        with self.open(name) as file:
            file.write(data)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a new file to write it from its start to its end."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            yield file

        with path.open("rb") as written:
            digest = hashlib.file_digest(written, "sha256").hexdigest()
        self.files[name] = (digest, path.stat().st_size)

    def seal(self, marker: dict[str, object]) -> None:
        """Write the marker file that identifies an export, and the digests of all files."""
        self.write(MARKER, msgspec.json.format(msgspec.json.encode(marker), indent=2) + b"\n")
        lines = [f"{self.files[name][0]}  {name}\n" for name in sorted(self.files)]
        self.write(SUMS, "".join(lines).encode())


@contextmanager
def open_staging(
    folder: Path, identity: Mapping[str, object], *, overwrite: bool
) -> Iterator[Staging]:
    """Yield a staging folder, and move it to `folder` when the block ends.

    If the block fails, `folder` stays as it was. Leftovers of a killed export are removed first.

    Parameters
    ----------
    identity : mapping of str to object
        ``name``, ``format`` and ``job``, in which it equals an export that it may replace.

    Raises
    ------
    ExportError
        The folder must not be replaced (see `check_target`), another export is writing to it, or
        it cannot be written.
    """
    target = folder.expanduser().resolve()
    name = hashlib.sha256(target.name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    temporary = target.with_name(f".cobalance-export-{name}")
    lock_path = temporary.with_name(f"{temporary.name}.lock")
    try:
        check_target(target, identity, overwrite=overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        # FileLock reports a folder that cannot be written as a lock that is held; a temporary file
        # raises the system's reason.
        with tempfile.TemporaryFile(dir=target.parent):
            pass

        with FileLock(lock_path, timeout=0):
            try:
                # A killed export may have left its folder.
                _remove(temporary)
                temporary.mkdir()
                staging = Staging(temporary)
                with staging.opened:
                    yield staging

                # The target may have been changed while the export was written.
                check_target(target, identity, overwrite=overwrite)
                _move(temporary, target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
                lock_path.unlink(missing_ok=True)
    except Timeout:
        raise ExportError(
            f"{folder}: another export is writing to this folder. Wait for it, or name another "
            "folder."
        ) from None
    except OSError as error:
        raise ExportError(
            f"{folder}: the export cannot be written ({error.strerror or error}). {_remedy(error)} "
            "Nothing of it was left there."
        ) from error


def _move(temporary: Path, target: Path) -> None:
    """Move a complete export to its place; an export that it replaces is put back on failure."""
    old = temporary.with_name(f"{temporary.name}.old")
    _remove(old)
    # A folder that is not empty cannot be replaced in one step.
    if target.exists():
        os.replace(target, old)

    try:
        os.replace(temporary, target)
    except OSError:
        if old.exists():
            os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Make room there, or name another folder."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Let this user write there and in the folder around it, or name another folder."
    if error.errno in (errno.EBUSY, errno.EXDEV):
        return "It is a mounted disk itself: name a folder in it."
    return "Name another folder."
