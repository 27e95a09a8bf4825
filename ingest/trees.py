"""Datasets that are a folder or an archive of files: listed and read, never unpacked."""

import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import IO

from graph.errors import InputError

MOST_FILES = 5_000_000
MOST_FILE_BYTES = 1 << 30  # of one file that is read whole
_TAR_MAGIC_AT = 257
_DAMAGE = (OSError, EOFError, RuntimeError, ValueError, OverflowError, struct.error, zlib.error,
           zipfile.BadZipFile, tarfile.TarError)  # fmt: skip


class FileTree(ABC):
    """The regular files of a folder or an archive, by their paths with ``/`` between folders.

    Hidden files are left out. A path of an archive that is absolute or leads out of it is refused,
    and links in an archive are left out; nothing is ever written.

    Parameters
    ----------
    path : Path
        The folder or archive.
    most_files : int
        Files beyond which it is refused.
    """

    is_tar = False

    def __init__(self, path: Path, most_files: int) -> None:
        self.path, self._most_files = path, most_files
        self.names = sorted(self._checked(self._list()))

    @abstractmethod
    def _list(self) -> Iterator[str]:
        """Paths of all regular files."""

    @abstractmethod
    def _open(self, name: str) -> IO[bytes]:
        """Open a file that is there."""

    def _checked(self, names: Iterator[str]) -> Iterator[str]:
        for number, name in enumerate(names):
            if number == self._most_files:
                raise self._error(None, f"has more than {number:,} files", "Split it.")
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
                shown = repr(name[:200])
                remedy = "Pack it anew, with paths inside the folder."
                raise self._error(None, f"holds the path {shown}, which leads out of it", remedy)
            if not any(part.startswith((".", "__MACOSX")) for part in path.parts):
                yield path.as_posix()

    def _error(self, name: str | None, reason: str, remedy: str) -> InputError:
        return InputError(str(self.path), name, reason, remedy)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file to be read piece by piece.

        Raises
        ------
        InputError
            It cannot be read, is damaged or encrypted.
        """
        try:
            with self._open(name) as file:
                yield file
        except InputError:
            raise
        except _DAMAGE as error:
            raise self._error(name, f"cannot be read ({error})", "Check it.") from None

    def read(self, name: str, most_bytes: int = MOST_FILE_BYTES) -> bytes:
        """Read a whole file.

        Raises
        ------
        InputError
            As `open`, or it is larger than `most_bytes`, whatever the archive says of its size.
        """
        with self.open(name) as file:
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise self._error(name, f"is larger than {most_bytes:,} bytes", "Split it.")
        return content

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Give a file as one of the file system: a file of an archive is copied for the while.

        Raises
        ------
        InputError
            As `open`.
        """
        with NamedTemporaryFile(prefix="cobalance-") as copy, self.open(name) as file:
            shutil.copyfileobj(file, copy)
            copy.flush()
            yield Path(copy.name)

    def below(self, folder: str, *endings: str) -> list[str]:
        """Paths in a folder and its subfolders, ``""`` for all, with one of some endings."""
        start = f"{folder}/" if folder else ""
        return [
            name
            for name in self.names
            if name.startswith(start) and (not endings or name.lower().endswith(endings))
        ]


class _Folder(FileTree):
    def _list(self) -> Iterator[str]:
        def failed(error: OSError) -> None:
            reason = f"cannot be read ({error.strerror or error})"
            raise self._error(None, reason, "Check its permissions.")

        for parent, folders, names in os.walk(self.path, onerror=failed):
            folders[:] = [name for name in folders if not name.startswith(".")]
            here = Path(parent).relative_to(self.path)
            for name in names:
                if "\\" not in name:  # no path of a dataset has one; on Windows it divides folders
                    yield (here / name).as_posix()

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        yield self.path / name

    def _open(self, name: str) -> IO[bytes]:
        path = self.path / name
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe waits for whoever writes
            raise self._error(name, "is a pipe or a device, not a file", "Leave it out.")
        return path.open("rb")


class _Zip(FileTree):
    def __init__(self, path: Path, most_files: int, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        super().__init__(path, most_files)

    def _list(self) -> Iterator[str]:
        for entry in self._archive.infolist():
            is_file = bool(entry.filename) and not entry.is_dir()
            if is_file and not stat.S_ISLNK(entry.external_attr >> 16):
                yield entry.filename

    def _open(self, name: str) -> IO[bytes]:
        return self._archive.open(name)


class _Tar(FileTree):
    is_tar = True

    def __init__(self, path: Path, most_files: int, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._entries = {entry.name: entry for entry in archive if entry.isreg()}
        super().__init__(path, most_files)

    def _list(self) -> Iterator[str]:
        yield from self._entries

    def _open(self, name: str) -> IO[bytes]:
        file = self._archive.extractfile(self._entries[name])
        assert file is not None  # noqa: S101 (these are regular files)
        return file


def is_tree(path: Path) -> bool:
    """Whether a path is a folder, a ZIP archive, or a uncompressed tar archive."""
    return path.is_dir() or _archive_kind(path) is not None


@contextmanager
def open_tree(path: Path, most_files: int = MOST_FILES) -> Iterator[FileTree]:
    """Open a folder or an archive.

    Raises
    ------
    InputError
        It cannot be read, is damaged, has too many files, or holds a path that leads out of it.
    """
    with ExitStack() as stack:
        try:
            tree = _opened(path, most_files, stack)
        except InputError:
            raise
        except _DAMAGE as error:
            reason = f"is a damaged archive ({error})"
            raise InputError(str(path), None, reason, "Pack it, or load it, anew.") from None
        yield tree


def _opened(path: Path, most_files: int, stack: ExitStack) -> FileTree:
    if path.is_dir():
        return _Folder(path, most_files)
    kind = _archive_kind(path)
    if kind == "zip":
        return _Zip(path, most_files, stack.enter_context(zipfile.ZipFile(path)))
    if kind == "tar":
        return _Tar(path, most_files, stack.enter_context(tarfile.open(path, "r:")))
    raise InputError(str(path), None, "is no folder, ZIP or tar archive", "Name one.")


def _archive_kind(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return "tar" if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar" else None
