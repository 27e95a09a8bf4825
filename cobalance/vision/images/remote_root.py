"""Image roots on fsspec file systems: object stores, HTTP servers, ZIP files.

fsspec is imported where such a root is opened, as the core installs without it.
"""

import os
import re
import threading
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from cobalance.base import ZIP_METHODS, Setting, needs_extra
from cobalance.vision.images.image_file import ImageFile, ImageFileError, is_failure, refuse

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")


class RemoteRoot:
    """A part of an fsspec file system; its files may be named by URLs that start with `url`.

    `connect` opens the file system, and returns it and the root's path in it; `version` returns
    another value when it has to be reopened.
    """

    def __init__(
        self,
        url: str,
        connect: Callable[[], tuple[Any, str]],
        version: Callable[[], object] = lambda: None,
    ) -> None:
        self._url = url.rstrip("/") + "/"
        self._connect, self._version = connect, version
        self._lock = threading.Lock()
        self._opened: tuple[object, Any, str] | None = None

    def find(self, uri: str) -> ImageFile | None:
        """Find a file by its path in here, or by a URL that starts with this one's.

        Raises
        ------
        ImageFileError
            The path leads outside, or the file cannot be read.
        """
        path = uri.removeprefix(self._url)
        if _URL.match(path) or path.startswith("/"):
            return None
        # Some file systems decode the path once more, and Windows' separators are taken by some.
        if ".." in _percent_decoded(path).replace("\\", "/").split("/"):
            raise ImageFileError(
                "The path leads out of the places that ", Setting("images"), " names."
            )

        try:
            version, system, base = self._file_system()
            full = f"{base}/{path}" if base else path
            info = system.info(full)
        except (FileNotFoundError, NotADirectoryError) as error:
            if is_failure(error.__cause__):
                refuse(error)
            return None
        except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
            refuse(error)
        if info.get("type") == "directory":
            raise ImageFileError("This is a folder, not an image file.")

        # Each file system has facts of its own: size, time, an entity tag.
        facts = sorted((name, str(value)) for name, value in info.items())
        identity = f"{self._url}\0{full}\0{version}\0{facts}"
        return ImageFile(identity, lambda: system.open(full, "rb"))

    def _file_system(self) -> tuple[object, Any, str]:
        version = self._version()
        with self._lock:
            if self._opened is None or self._opened[0] != version:
                system, base = self._connect()
                self._opened = version, system, base.rstrip("/")
            return self._opened


def url_root(url: str) -> RemoteRoot:
    """The root of an fsspec URL, such as ``s3://bucket/images``; chained URLs work, too.

    HTTP servers may redirect within themselves only: a redirect elsewhere would let them choose
    which hosts this machine reads from.
    """
    url_to_fs = _import_fsspec().core.url_to_fs

    def connect() -> tuple[Any, str]:
        # A chained URL, such as zip://a.jpg::https://host/b.zip, may have several.
        protocols = dict.fromkeys(re.findall(r"(?:^|::)(https?)://", url))
        options = {}
        if protocols:
            options = {"client_kwargs": {"trace_configs": [_redirect_guard()]}}
        system, path = url_to_fs(url, **dict.fromkeys(protocols, options))
        return system, path

    return RemoteRoot(url, connect)


def zip_root(path: str) -> RemoteRoot:
    """The root of a ZIP file, which is reopened when the file is replaced."""
    fsspec = _import_fsspec()

    def connect() -> tuple[Any, str]:
        system = fsspec.filesystem("zip", fo=path, skip_instance_cache=True)
        if any(entry.compress_type not in ZIP_METHODS for entry in system.zip.infolist()):
            raise ImageFileError(f"{path} is not packed by deflate. Pack it anew.")
        return system, ""

    def version() -> object:
        status = os.stat(path)
        return status.st_ino, status.st_size, status.st_mtime_ns

    return RemoteRoot(f"zip://{path}", connect, version)


def _import_fsspec() -> Any:
    with needs_extra("Reading images from URLs and ZIP files", "worker"):
        import fsspec.core
    return fsspec


@cache
def _redirect_guard() -> Any:
    """A hook of aiohttp that ends requests which are redirected to another server."""
    import aiohttp

    async def check(_session: Any, _context: Any, request: Any) -> None:
        target = urljoin(str(request.url), request.response.headers.get("Location", ""))
        if not _same_server(str(request.url), target):
            host = urlsplit(target).netloc.rpartition("@")[2]
            raise ImageFileError(f"The server redirects to another one ({host}).")

    guard = aiohttp.TraceConfig()
    guard.on_request_redirect.append(check)
    return guard


def _same_server(url: str, target: str) -> bool:
    """Whether a redirect stays on its host and port, or goes from HTTP to HTTPS on that host."""
    ports = {"http": 80, "https": 443}
    old, new = urlsplit(url), urlsplit(target)
    if old.hostname != new.hostname or new.scheme not in ports:
        return False
    before = (old.scheme, old.port or ports[old.scheme])
    after = (new.scheme, new.port or ports[new.scheme])
    return before == after or (before, after) == (("http", 80), ("https", 443))


def _percent_decoded(path: str) -> str:
    """Undo percent encoding, however often it was applied."""
    while (shorter := unquote(path)) != path:
        path = shorter
    return path
