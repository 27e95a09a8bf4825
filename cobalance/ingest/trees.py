"""Datasets that are a folder or an archive of files: listed and read, never unpacked.

What one may unfold to is limited here, for all readers: a small archive must not take all memory.
"""

import io
import os
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import IO, Any, Literal, TypeVar

from cobalance.base import ZIP_METHODS, InputError
from cobalance.ingest.outline import Outline, read_outline

MOST_FILES = 5_000_000
MOST_FOLDERS = 64
"""Folders in one another."""
MOST_BYTES = 1 << 40
"""Bytes that are read in all, however often a file is."""
MOST_RATIO = 50
"""Bytes that are read of an archive for each of its own, beyond the first 32 MiB."""
MOST_FILE_BYTES = 1 << 32  # of one file that is read whole
LONGEST_LINE = 1 << 24  # characters or bytes, of any text file
_FREE_BYTES = 1 << 25  # that any archive may unfold to
_MARKS = (b"[", b"{", b",", b"<")  # what values of JSON, and tags of XML, begin with
_MARK_BYTES = 32  # that a value takes in memory at least; twice that a line
_MOST_OUTLINES = 100
_PIECE, _BUFFER = 1 << 20, 1 << 16
_TAR_MAGIC_AT = 257
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_DAMAGE = (OSError, EOFError, RuntimeError, ValueError, OverflowError, struct.error, zlib.error,
           zipfile.BadZipFile, tarfile.TarError)  # fmt: skip
Line = TypeVar("Line", str, bytes)


class FileTree(ABC):
    """The regular files of a folder or an archive, by their paths with ``/`` between folders.

    Hidden files are left out, and of several of one path in an archive all but the last. A path of
    an archive that is absolute or leads out of it is refused, and links in an archive are left out.
    In a folder, links to folders are left out, and those to files outside of it are refused where
    they are opened. Nothing is ever written but a copy of one file of an archive, for the while.

    Parameters
    ----------
    path : Path
        The folder or archive.
    most_files : int
        Files beyond which it is refused.
    archive : ZipFile, TarFile or None
        The open archive.
    """

    is_tar = False

    def __init__(self, path: Path, most_files: int, archive: Any = None) -> None:
        self.path, self._most_files, self._archive = path, most_files, archive
        self._most_bytes = MOST_BYTES if archive is None else most_bytes(path)
        self._spent = 0
        self._outlines: dict[str, Outline] = {}
        self._stored = dict(self._check(self._list()))
        self.names = sorted(self._stored)

    @abstractmethod
    def _list(self) -> Iterator[tuple[str, Any]]:
        """Paths of all regular files, with the handles that `_open` takes."""

    @abstractmethod
    def _open(self, name: str, stored: Any, *, anywhere: bool) -> IO[bytes]:
        """Open a file that is there."""

    def _check(self, files: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        for number, (name, stored) in enumerate(files):
            if number == self._most_files:
                raise self._error(None, f"has more than {number:,} files", "Split it.")

            # Archives of Windows may divide folders so.
            path = PurePosixPath(name.replace("\\", "/"))
            # Such a path would lead out of a folder that the archive is unpacked to.
            leads_out = path.is_absolute() or ".." in path.parts or _DRIVE.match(name)
            if leads_out or "\0" in name:
                shown_path = repr(name[:200])
                raise self._error(
                    None,
                    f"holds the path {shown_path}, which leads out of it",
                    "Pack it anew, with paths inside the folder.",
                )

            if len(path.parts) > MOST_FOLDERS + 1:
                raise self._error(
                    None,
                    f"has folders more than {MOST_FOLDERS} deep ({name[:60]}...)",
                    "Leave them out.",
                )

            if not any(part.startswith((".", "__MACOSX")) for part in path.parts):
                yield path.as_posix(), stored

    @abstractmethod
    def size_bytes(self, name: str) -> int:
        """Bytes of a file, as an archive says: more than those cannot be read of it."""

    def _error(self, name: str | None, reason: str, remedy: str) -> InputError:
        return InputError(str(self.path), name, reason, remedy)

    def _spend(self, size: int) -> None:
        """Count bytes that were read, or that values take; InputError if these are too many."""
        self._spent += size
        check_unfolding(self.path, self._most_bytes, self._spent)

    @contextmanager
    def open(self, name: str, *, anywhere: bool = False) -> Iterator[IO[bytes]]:
        """Open a file to be read piece by piece.

        Parameters
        ----------
        anywhere : bool
            Whether a link may lead out of a folder: for pictures, of which the size is read.

        Raises
        ------
        InputError
            It cannot be read, is damaged or encrypted, is no regular file, or a link that leads
            out of the folder, or more is read in all than the limits allow.
        """
        try:
            with (
                self._open(name, self._stored[name], anywhere=anywhere) as file,
                io.BufferedReader(_Counted(file, self._spend), _BUFFER) as counted,
            ):
                yield counted
        except InputError:
            raise
        except _DAMAGE as error:
            raise self._error(name, f"cannot be read ({error})", "Check it.") from None

    def read(self, name: str, most_bytes: int = MOST_FILE_BYTES) -> bytes:
        """Read a whole file; each value of JSON and tag of XML counts as 32 bytes more.

        Raises
        ------
        InputError
            As `open`, or it is larger than `most_bytes`, whatever the archive says of its size.
        """
        content = io.BytesIO()
        with self.open(name) as file:
            while piece := file.read(_PIECE):
                content.write(piece)
                if content.tell() > most_bytes:
                    raise self._error(name, f"is larger than {most_bytes:,} bytes", "Split it.")
                # A value takes memory beyond its bytes, which are few for an empty list.
                self._spend(_MARK_BYTES * sum(map(piece.count, _MARKS)))
        return content.getvalue()

    def lines(self, name: str) -> Iterator[str]:
        """Read a text file in UTF-8 line by line, with their ends; each counts as 64 bytes more.

        Raises
        ------
        InputError
            As `open`, or a line is longer than 16 Mi characters.
        """
        with (
            self.open(name) as file,
            io.TextIOWrapper(file, "utf-8-sig", "replace", newline="") as text,
        ):
            for line in lines_of(text, f"{self.path}/{name}"):
                self._spend(2 * _MARK_BYTES)
                yield line

    def outline(self, name: str) -> Outline:
        """The outline of a JSON file; kept, as one format after another asks for it.

        Raises
        ------
        InputError
            As `open`.
        """
        if name not in self._outlines:
            if len(self._outlines) == _MOST_OUTLINES:
                self._outlines.clear()
            with self.open(name) as file:
                self._outlines[name] = read_outline(file)
        return self._outlines[name]

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Give a file as one of the file system: a file of an archive is copied for the while.

        Raises
        ------
        InputError
            As `open`.
        """
        with NamedTemporaryFile(prefix="cobalance-") as copy:
            with self.open(name) as file:
                shutil.copyfileobj(file, copy)
            copy.flush()
            yield Path(copy.name)

    def below(self, folder: str, *endings: str) -> list[str]:
        """Paths in a folder and its subfolders, ``""`` for all, with one of some endings."""
        names = self.names
        # In sorted names "0" is next to "/".
        if folder:
            names = names[bisect_left(names, f"{folder}/") : bisect_left(names, f"{folder}0")]

        return [name for name in names if not endings or name.lower().endswith(endings)]


class _Counted(io.RawIOBase):
    """A file whose bytes are counted as they are read."""

    def __init__(self, file: IO[bytes], spend: Callable[[int], None]) -> None:
        self._file, self._spend = file, spend

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(len(buffer))
        self._spend(len(piece))
        buffer[: len(piece)] = piece
        return len(piece)


class _Folder(FileTree):
    def _list(self) -> Iterator[tuple[str, Any]]:
        def fail(error: OSError) -> None:
            raise self._error(
                None, f"cannot be read ({error.strerror or error})", "Check its permissions."
            )

        for parent, folders, names in os.walk(self.path, onerror=fail):
            folders[:] = [name for name in folders if not name.startswith(".")]
            here = Path(parent).relative_to(self.path)
            for name in names:
                # No path of a dataset has one; on Windows it divides folders.
                if "\\" not in name:
                    yield (here / name).as_posix(), None

    def size_bytes(self, name: str) -> int:
        return (self.path / name).stat().st_size

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        # Opening refuses what is no file, or leads out.
        with self.open(name):
            pass

        yield self.path / name

    def _open(self, name: str, stored: Any, *, anywhere: bool) -> IO[bytes]:  # noqa: ARG002
        path = self.path / name
        if path.is_symlink() and not anywhere:
            target = path.resolve()
            if not target.is_relative_to(self.path.resolve()):
                raise self._error(
                    name, "is a link that leads out of the folder", "Put the file itself there."
                )

        # A pipe waits for whoever writes.
        if not stat.S_ISREG(path.stat().st_mode):
            raise self._error(name, "is a pipe or a device, not a file", "Leave it out.")

        return path.open("rb", buffering=0)


class _Zip(FileTree):
    def _list(self) -> Iterator[tuple[str, Any]]:
        for entry in self._archive.infolist():
            is_file = bool(entry.filename) and not entry.filename.endswith(("/", "\\"))
            if is_file and not stat.S_ISLNK(entry.external_attr >> 16):
                yield entry.filename, entry

    def size_bytes(self, name: str) -> int:
        return int(self._stored[name].file_size)

    def _open(self, name: str, stored: Any, *, anywhere: bool) -> IO[bytes]:  # noqa: ARG002
        if stored.compress_type not in ZIP_METHODS:
            raise self._error(name, "is not packed by deflate", "Pack it anew.")
        return self._archive.open(stored)


class _Tar(FileTree):
    is_tar = True

    def _list(self) -> Iterator[tuple[str, Any]]:
        for entry in self._archive:
            if entry.isreg():
                yield entry.name, entry

    def size_bytes(self, name: str) -> int:
        return int(self._stored[name].size)

    def _open(self, name: str, stored: Any, *, anywhere: bool) -> IO[bytes]:  # noqa: ARG002
        # The names are of regular files alone, which Python extracts.
        return self._archive.extractfile(stored)


def most_bytes(file: Path) -> int:
    """Bytes that an archive, or another file that is compressed, may unfold to."""
    return min(MOST_BYTES, max(_FREE_BYTES, MOST_RATIO * file.stat().st_size))


def check_unfolding(path: Path, most: int, size: float) -> None:
    """Raise InputError if a file unpacks to more than `most` bytes."""
    if size > most:
        raise InputError(
            str(path),
            None,
            f"unfolds to more than {most:,} bytes, the most for its size",
            "If it is from someone you trust, unpack it, and name that, or split it.",
        )


def lines_of(file: IO[Line], source: str) -> Iterator[Line]:
    """Yield the lines of a file; one without an end would take all memory.

    Raises
    ------
    InputError
        A line is longer than 16 Mi characters; `source` names the file.
    """
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise InputError(
                source,
                f"line {number}",
                f"is longer than {LONGEST_LINE:,} characters",
                "Get the whole file again, or break the line.",
            )

        yield line


def is_tree(path: Path) -> bool:
    """Whether a path is a folder, a ZIP archive, or an uncompressed tar archive.

    InputError if it may not be read.
    """
    return _tree_kind(path) is not None


@contextmanager
def open_tree(path: Path, most_files: int = MOST_FILES) -> Iterator[FileTree]:
    """Open a folder or an archive.

    Raises
    ------
    InputError
        It cannot be read, is damaged, has too many or too deep files, or holds a path that leads
        out of it.
    """
    with ExitStack() as stack:
        try:
            match _tree_kind(path):
                case "folder":
                    tree: FileTree = _Folder(path, most_files)
                case "zip":
                    tree = _Zip(path, most_files, stack.enter_context(zipfile.ZipFile(path)))
                case "tar":
                    tree = _Tar(path, most_files, stack.enter_context(tarfile.open(path, "r:")))
                case _:
                    raise InputError(  # noqa: TRY301
                        str(path), None, "is no folder, ZIP or tar archive", "Name one."
                    )
        except InputError:
            raise
        except _DAMAGE as error:
            raise InputError(
                str(path), None, f"is a damaged archive ({error})", "Pack it, or load it, anew."
            ) from None
        yield tree


def cannot_read(path: Path, error: OSError) -> InputError:
    """The error for a file that may not be read."""
    reason = f"cannot be read ({error.strerror or error})"
    return InputError(str(path), None, reason, "Check its permissions.")


def _tree_kind(path: Path) -> Literal["folder", "zip", "tar"] | None:
    try:
        if path.is_dir():
            return "folder"
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(512)
    except OSError as error:
        raise cannot_read(path, error) from None

    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar" else None
