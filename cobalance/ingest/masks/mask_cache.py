"""Cache of masks, so that an interrupted read resumes."""

import hashlib
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import platformdirs

from cobalance.base import UNDECODABLE
from cobalance.ingest.trees import FileTree

_VERSION = 1  # of what is kept: another is read anew
_PART_MASKS, _PART_BYTES = 200, 1 << 24  # that are written at once
_KEPT_DAYS = 30


class Region(msgspec.Struct, array_like=True, frozen=True):
    """The pixels of one value, as `LabelRegion` has them, with the colour of a palette's index."""

    value: int
    colour: int | None
    area_px2: int
    box: tuple[float, float, float, float]
    segmentation: bytes


class MaskContent(msgspec.Struct, array_like=True, frozen=True):
    """A mask: its size, whether its values are colours, and a region for each."""

    width_px: int
    height_px: int
    is_colour: bool
    regions: list[Region]


class _Entry(msgspec.Struct, array_like=True):
    name: str
    size: int
    mtime_ns: int
    content: MaskContent


class MaskCache:
    """The masks of a folder or an archive that were read before, by path, size and time.

    It is kept in the user's folder of caches; where nothing can be written there, masks are read
    anew each time.
    """

    def __init__(self, tree: FileTree) -> None:
        self._path = tree.path.resolve()
        key = hashlib.sha256(f"{_VERSION} {self._path}".encode()).hexdigest()[:32]
        self._folder = platformdirs.user_cache_path("cobalance") / "masks" / key
        self._new: list[_Entry] = []
        self._new_bytes = 0

        self._entries: dict[str, _Entry] = {}
        with suppress(OSError):
            _drop_old(self._folder)
            for part in sorted(self._folder.glob("*.msgpack")):
                with suppress(*UNDECODABLE):
                    entries = msgspec.msgpack.decode(part.read_bytes(), type=list[_Entry])
                    self._entries |= {entry.name: entry for entry in entries}

    def get(self, name: str) -> MaskContent | None:
        """A mask of the cache; None where it is not there, or has changed since."""
        entry = self._entries.pop(name, None)
        if entry is None or (entry.size, entry.mtime_ns) != self._identity(name):
            return None
        return entry.content

    def add(self, name: str, content: MaskContent) -> None:
        """Add a mask; it is written with others."""
        self._new.append(_Entry(name, *self._identity(name), content))
        self._new_bytes += sum(len(region.segmentation) for region in content.regions)
        if len(self._new) >= _PART_MASKS or self._new_bytes > _PART_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the masks since the last time."""
        if not self._new:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            name = os.urandom(8).hex()
            temporary = self._folder / f".{name}.tmp"
            temporary.write_bytes(msgspec.msgpack.encode(self._new))
            os.replace(temporary, self._folder / f"{name}.msgpack")
        self._new, self._new_bytes = [], 0

    def _identity(self, name: str) -> tuple[int, int]:
        """Size and time of a file, or of the archive that it is in."""
        path = self._path / name if self._path.is_dir() else self._path
        try:
            status = path.stat()
        except OSError:
            return -1, -1
        return status.st_size, status.st_mtime_ns


def _drop_old(folder: Path) -> None:
    """Delete caches of other datasets that nobody has read for a month."""
    oldest = time.time() - _KEPT_DAYS * 86_400
    if folder.is_dir():
        os.utime(folder)
    for other in folder.parent.glob("*"):
        if other != folder and other.stat().st_mtime < oldest:
            shutil.rmtree(other, ignore_errors=True)
