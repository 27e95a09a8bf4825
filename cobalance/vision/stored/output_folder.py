"""The output folder of workers: local, mounted, or an fsspec URL.

Writes are atomic: on a disk a file is written under a temporary name and moved, and object stores
show an object only once it is complete.
"""

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any

from cobalance.base import (
    CobalanceError,
    DataError,
    JobBlockedError,
    OptionError,
    Setting,
    make_folder,
    needs_extra,
)

_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "memory"}
_TEMPORARY = ".tmp"
_REMEDIES = {
    errno.ENOSPC: "Make room there",
    errno.EDQUOT: "Make room there",
    errno.EROFS: "Make it writable",
    errno.EACCES: "Let this user write there",
    errno.EPERM: "Let this user write there",
}


class OutputMissingError(CobalanceError):
    """There is no such file in the output folder."""


class OutputFolder:
    """A folder by path or fsspec URL; for any number of threads and processes at once.

    Parameters
    ----------
    place : str
        Such as ``/data/generated`` or ``s3://bucket/generated``.

    Raises
    ------
    MissingExtraError
        The extra ``worker`` is not installed.
    OptionError
        Nothing here opens URLs of its kind.
    """

    def __init__(self, place: str) -> None:
        with needs_extra("The output folder of workers", "worker"):
            from fsspec.core import url_to_fs
        self.place = place
        try:
            self._fs, root = url_to_fs(place)
        except (ValueError, ImportError) as error:
            raise OptionError(
                f"The output folder {place!r} cannot be opened: {error}. Name a folder, or a URL "
                "that fsspec knows and has the package for."
            ) from error

        protocols = self._fs.protocol
        names = {protocols} if isinstance(protocols, str) else set(protocols)
        self._is_local = bool(names & {"file", "local"})
        # An object store shows an object once it is whole: nothing has to be moved there.
        self._is_moved = not names & _OBJECT_STORES
        self._root = os.path.abspath(root) if self._is_local else root.rstrip("/")

    def write(self, name: str, data: bytes) -> None:
        """Write a file, replacing an earlier one; `name` is its path in the folder, with slashes.

        Raises
        ------
        JobBlockedError
            The folder is full, read-only or unreachable.
        """
        self.write_large(name, lambda file: file.write(data))

    def write_large(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        """Write a file that is never whole in memory: `fill` writes it to an open one.

        An earlier file is replaced; errors as of `write`.
        """
        path = self._path(name)
        with self._blocking("written to"):
            if self._is_local:
                _write_local(Path(self._root), Path(path), fill)
                return

            with TemporaryDirectory() as place:
                local = Path(place) / "content"
                with local.open("wb") as file:
                    fill(file)
                if not self._is_moved:
                    self._fs.put_file(str(local), path)
                    return
                # Under its own name it is seen only once it is whole.
                temporary = f"{path}.{secrets.token_hex(4)}{_TEMPORARY}"
                self._fs.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                self._fs.put_file(str(local), temporary)
                self._fs.mv(temporary, path)

    def read(self, name: str) -> bytes:
        """Read a file.

        Raises
        ------
        OutputMissingError
            There is no such file.
        JobBlockedError
            It cannot be read.
        """
        with self._blocking("read"):
            try:
                data: bytes = self._fs.cat_file(self._path(name))
            except FileNotFoundError as error:
                raise OutputMissingError(f"{self.place}: there is no file {name}.") from error
            return data

    def exists(self, name: str) -> bool:
        """Whether a file or folder exists."""
        with self._blocking("read"):
            return bool(self._fs.exists(self._path(name)))

    def names(self, folder: str) -> list[str]:
        """The names of a folder's files, sorted, without temporary ones; none if it is missing."""
        return sorted(name for name in self._list(folder) if not name.endswith(_TEMPORARY))

    def walk(self, folder: str) -> list[str]:
        """Paths of all files below a folder, sorted, without temporary ones."""
        with self._blocking("read"), suppress(FileNotFoundError):
            paths = map(str, self._fs.find(self._path(folder)))
            names = [path[len(self._root) + 1 :] for path in paths]
            return sorted(name for name in names if not name.endswith(_TEMPORARY))
        return []

    def delete(self, name: str) -> None:
        """Delete a file, if it exists."""
        with self._blocking("written to"), suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    def delete_folder(self, name: str) -> None:
        """Delete a folder with all that is in it, if it exists."""
        with self._blocking("written to"), suppress(FileNotFoundError):
            self._fs.rm(self._path(name), recursive=True)

    def delete_temporary(self, folder: str) -> None:
        """Delete a folder's temporary files, which killed processes have left."""
        # All are listed before the first is deleted.
        for name in [name for name in self._list(folder) if name.endswith(_TEMPORARY)]:
            self.delete(f"{folder}/{name}")

    def _list(self, folder: str) -> Iterator[str]:
        """The names of a folder's files, of which there may be millions."""
        with self._blocking("read"), suppress(FileNotFoundError):
            if self._is_local:
                with os.scandir(self._path(folder)) as entries:
                    yield from (entry.name for entry in entries if entry.is_file())
                return

            listed: list[dict[str, Any]] = self._fs.ls(self._path(folder), detail=True)
            paths = (PurePosixPath(facts["name"]) for facts in listed if facts["type"] == "file")
            # Each name once, however often a file system lists it.
            yield from {path.name for path in paths}

    def _path(self, name: str) -> str:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or not {"..", "."}.isdisjoint(parts):
            raise DataError(f"{name!r} is not a path in the output folder.")
        return f"{self._root}/{'/'.join(parts)}"

    @contextmanager
    def _blocking(self, done: str) -> Iterator[None]:
        """Raise JobBlockedError for an error of the file system in the block."""
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
            remedy = _REMEDIES.get(error.errno or 0, "Put that right")
            raise JobBlockedError(
                f"The output folder {self.place} cannot be {done}: {why}. {remedy}, or set ",
                Setting("output"),
                " to another one; then retry the job.",
            ) from error


def _write_local(root: Path, path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file on a disk: whole on the disk before it has its name."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_TEMPORARY}")
    try:
        try:
            file = temporary.open("xb")
        except FileNotFoundError:
            make_folder(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            file = temporary.open("xb")
        with file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())

        try:
            os.replace(temporary, path)
        except FileNotFoundError:
            # It was deleted as temporary: another worker has finished the job.
            if not path.exists():
                raise
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
