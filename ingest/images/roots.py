"""Where image files are: folders, ZIP files and fsspec URLs, and no file outside of them.

What an annotation file says about an image is never opened as it stands: it is looked for inside
the roots. A URL counts only where a root is its beginning, so that no protocol, host or bucket is
reached but a root's own.
"""

import os
import re
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol
from urllib.parse import unquote

import fsspec
from fsspec.core import url_to_fs

from ingest.images.problems import PictureError

MAX_BYTES = 200_000_000

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_LOCAL = re.compile(r"^(file|local)://")
# A FIFO does not block, and a link that comes in place of the file is not followed.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class ImageFile:
    """An image file that was found, and is not read yet.

    Parameters
    ----------
    identity : str
        Differs for another file, and for other content as far as its size, time or tag tell.
    read : callable
        Gives the content, or raises PictureError.
    """

    identity: str
    read: Callable[[], bytes]


class Root(Protocol):
    """A place where image files are."""

    def find(self, uri: str) -> ImageFile | None:
        """Find a file; None where it is not here.

        Raises
        ------
        PictureError
            It is outside, or no file that can be read.
        """


class Roots:
    """All places where image files may be.

    Parameters
    ----------
    roots : sequence of str
        Folders, ZIP files and fsspec URLs such as ``s3://bucket/images``, in the order in which a
        relative path is looked for.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        folders = [_local_path(root) for root in roots if _is_folder(root)]
        self._roots: list[Root] = [
            Folder(_local_path(root), folders) if _is_folder(root) else _remote(root)
            for root in roots
        ]

    def find(self, uri: str | None) -> ImageFile:
        """Find the file that an annotation file names.

        Raises
        ------
        PictureError
            There is none, it is outside of the roots, or it is no file that can be read.
        """
        if not uri:
            raise PictureError("The annotations name no file for this image.")
        if not self._roots:
            raise PictureError(
                "No folder of image files is known. Set COBALANCE_IMAGES to where they are."
            )
        problem = None
        spellings = uri, unquote(uri) if _LOCAL.match(uri) else uri, uri.replace("\\", "/")
        for name in dict.fromkeys(spellings):  # the last is for paths written on Windows
            for root in self._roots:
                try:
                    found = root.find(name)
                except PictureError as error:
                    problem = problem or error
                else:
                    if found is not None:
                        return found
        raise problem or PictureError(
            "There is no such file in the places that COBALANCE_IMAGES names."
        )


class Folder:
    """A folder of this machine.

    Parameters
    ----------
    path : str
        It need not exist yet.
    allowed : sequence of str
        The folders that links in this one may lead to.
    """

    def __init__(self, path: str, allowed: Sequence[str]) -> None:
        self._path, self._allowed = path, allowed

    def find(self, uri: str) -> ImageFile | None:
        """Find a file by its path in this folder, its absolute path or its file URL."""
        if _URL.match(uri) and not _LOCAL.match(uri):
            return None
        try:
            path = os.path.realpath(os.path.join(self._path, _LOCAL.sub("", uri)))
            if not any(_is_inside(path, os.path.realpath(root)) for root in self._allowed):
                raise _outside()
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise PictureError(f"The file cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise PictureError("This is no name of a file.") from error
        _check_kind(status)
        _check_size(status.st_size)
        identity = f"{path}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}"
        return ImageFile(identity, lambda: _read_local(path))


class Remote:
    """A part of an fsspec file system.

    Parameters
    ----------
    url : str
        Its URL, for those files that are named by theirs.
    connect : callable
        Gives the file system, and this part's path in it.
    version : callable
        Differs when the file system has to be opened anew.
    """

    def __init__(
        self,
        url: str,
        connect: Callable[[], tuple[Any, str]],
        version: Callable[[], object] = lambda: None,
    ) -> None:
        self._url, self._connect, self._version = url.rstrip("/") + "/", connect, version
        self._lock = threading.Lock()
        self._opened: tuple[object, Any, str] | None = None

    def find(self, uri: str) -> ImageFile | None:
        """Find a file by its path in here, or by a URL that starts with this one's."""
        path = uri.removeprefix(self._url)
        if _URL.match(path) or path.startswith("/"):
            return None
        if ".." in _decoded(path).replace("\\", "/").split("/"):
            raise _outside()
        try:
            version, system, base = self._file_system()
            full = f"{base}/{path}" if base else path
            info = system.info(full)
        except (FileNotFoundError, NotADirectoryError):
            return None
        # Each file system raises errors of its own, and a missing one ImportError.
        except Exception as error:  # noqa: BLE001
            _refuse(error)
        if info.get("type") == "directory":
            raise PictureError("This is a folder, and no image file.")
        _check_size(info.get("size"))
        about = sorted((key, str(value)) for key, value in info.items())
        identity = f"{self._url}\0{full}\0{version}\0{about}"
        return ImageFile(identity, lambda: _read_remote(system, full))

    def _file_system(self) -> tuple[object, Any, str]:
        version = self._version()
        with self._lock:
            if self._opened is None or self._opened[0] != version:
                system, base = self._connect()
                self._opened = version, system, base.rstrip("/")
            return self._opened


def _remote(root: str) -> Remote:
    """Give a root that is no folder: a URL, or a ZIP file, which is opened anew when replaced."""
    if _URL.match(root) and not _LOCAL.match(root):
        return Remote(root, lambda: url_to_fs(root))
    path = _local_path(root)

    def connect() -> tuple[Any, str]:
        return fsspec.filesystem("zip", fo=path, skip_instance_cache=True), ""

    def version() -> object:
        status = os.stat(path)
        return status.st_ino, status.st_size, status.st_mtime_ns

    return Remote(f"zip://{path}", connect, version)


def _is_folder(root: str) -> bool:
    if _URL.match(root) and not _LOCAL.match(root):
        return False
    return not (root.lower().endswith(".zip") and os.path.isfile(_local_path(root)))


def _local_path(root: str) -> str:
    return str(Path(_LOCAL.sub("", root)).expanduser().absolute())


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _decoded(path: str) -> str:
    """Undo percent encoding, however often it was done."""
    while (shorter := unquote(path)) != path:
        path = shorter
    return path


def _read_local(path: str) -> bytes:
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            _check_kind(os.fstat(file.fileno()))
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PictureError(f"The file cannot be read: {error.strerror}.") from error
    _check_size(len(content))
    return content


def _read_remote(system: Any, path: str) -> bytes:
    try:
        with system.open(path, "rb") as file:
            content: bytes = file.read(MAX_BYTES + 1)
    except Exception as error:  # noqa: BLE001
        _refuse(error)
    _check_size(len(content))
    return content


def _refuse(error: Exception) -> NoReturn:
    """Raise what a file system's own error means for a picture."""
    if isinstance(error, PermissionError):
        reason = "Permission denied"
    elif isinstance(error, (ImportError, ValueError)):  # a protocol not installed, or not known
        reason = str(error)
    else:
        reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    raise PictureError(f"The file cannot be read: {reason}.") from error


def _check_kind(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise PictureError("This is a folder, and no image file.")
    if not stat.S_ISREG(status.st_mode):
        raise PictureError("This is no regular file.")


def _check_size(n_bytes: int | None) -> None:
    if n_bytes is not None and n_bytes > MAX_BYTES:
        raise PictureError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")


def _outside() -> PictureError:
    return PictureError("The path leads out of the places that COBALANCE_IMAGES names.")
