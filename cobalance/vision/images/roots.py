"""Find image files in the configured folders, ZIP files and fsspec URLs, and nowhere else.

Paths and URLs in annotation files are never opened directly but looked up inside the roots. A URL
has to start with a root, so that no other protocol, host or bucket is reached.
"""

import os
import re
import stat
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from cobalance.base import Setting
from cobalance.vision.images.image_file import ImageFile, ImageFileError, refuse
from cobalance.vision.images.remote_root import RemoteRoot, url_root, zip_root
from cobalance.vision.images.video_frames import FRAME, frame_of

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_LOCAL = re.compile(r"^(file|local)://")
# Do not block on a FIFO, nor follow a link that has replaced the file.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class ImageRoots:
    """All places that may hold image files, in the order in which a relative path is looked for.

    They are folders, ZIP files and fsspec URLs such as ``s3://bucket/images``.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        folders = [_local_path(root) for root in roots if _is_folder(root)]
        self._roots = [_open_root(root, folders) for root in roots]

    def find(self, uri: str | None) -> ImageFile:
        """Find the file that an annotation file names; ``drive.mp4#frame=12`` is in a video.

        Raises
        ------
        ImageFileError
            There is no such file, it is outside of the roots, or it cannot be read.
        """
        if not uri:
            raise ImageFileError("The annotations name no file for this image.")
        if not self._roots:
            raise ImageFileError(
                "No folder of image files is known. Set ",
                Setting("images"),
                " to where they are.",
            )
        if frame := FRAME.match(uri):
            return frame_of(self.find(frame["video"]), frame["kind"], int(frame["number"]))

        is_remote = _URL.match(uri) and not _LOCAL.match(uri)
        decoded = uri if is_remote else unquote(uri)
        # As it is, percent encoded, and with the separators of Windows.
        spellings = dict.fromkeys((uri, decoded, decoded.replace("\\", "/")))
        problem = None
        for root, name in product(self._roots, spellings):
            try:
                file: ImageFile | None = root.find(name)
            except ImageFileError as error:
                # Another root may have the file: the first problem is told if none has.
                problem = problem or error
            else:
                if file is not None:
                    return file
        raise problem or ImageFileError(
            "There is no such file in the places that ", Setting("images"), " names."
        )


class Folder:
    """A local folder, which need not exist yet; links in it may lead to the `allowed` ones."""

    def __init__(self, path: str, allowed: Sequence[str]) -> None:
        self._path, self._allowed = path, allowed

    def find(self, uri: str) -> ImageFile | None:
        """Find a file by its path in this folder, its absolute path or its file URL.

        Raises
        ------
        ImageFileError
            The path leads outside, or the file cannot be read.
        """
        if _URL.match(uri) and not _LOCAL.match(uri):
            return None

        # Links are followed before the check, so that none leads out.
        try:
            path = os.path.realpath(os.path.join(self._path, _LOCAL.sub("", uri)))
            if not any(_is_inside(path, os.path.realpath(root)) for root in self._allowed):
                raise ImageFileError(
                    "The path leads out of the places that ", Setting("images"), " names."
                )
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            refuse(error)
        except ValueError as error:
            raise ImageFileError("This is not a valid file name.") from error

        _check_kind(status)
        identity = f"{path}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}"
        return ImageFile(identity, lambda: _open_local(path))


def _open_root(root: str, folders: Sequence[str]) -> Folder | RemoteRoot:
    if _is_folder(root):
        return Folder(_local_path(root), folders)
    if _URL.match(root) and not _LOCAL.match(root):
        return url_root(root)
    return zip_root(_local_path(root))


def _is_folder(root: str) -> bool:
    if _URL.match(root) and not _LOCAL.match(root):
        return False
    return not (root.lower().endswith(".zip") and os.path.isfile(_local_path(root)))


def _local_path(root: str) -> str:
    return str(Path(_LOCAL.sub("", root)).expanduser().absolute())


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _open_local(path: str) -> BinaryIO:
    file = os.fdopen(os.open(path, _FLAGS), "rb")
    # Once more, as another file may have taken its place since.
    _check_kind(os.fstat(file.fileno()))
    return file


def _check_kind(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ImageFileError("This is a folder, not an image file.")
    if not stat.S_ISREG(status.st_mode):
        raise ImageFileError("This is not a regular file.")
