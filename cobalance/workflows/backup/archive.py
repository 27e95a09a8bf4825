"""The backup file: a ZIP of JSON Lines, of files as they are, and of a manifest.

A file from elsewhere is read within limits: it unfolds to no more than its own size allows.
"""

import base64
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Any

from neo4j.time import DateTime

from cobalance.base import DataError, InputError, Progress

_BLOCK = 1 << 20
# The parts may be so many times as large as their file; JSON Lines pack 10 to 40 times.
_MOST_TIMES = 200
# Bytes of a line.
_MOST_AT_ONCE = 1 << 28
# Bytes; the name of a temporary file is longer.
_MOST_OF_NAME = 200
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
)

# Level 1 packs a fifth less than the usual one, in a third of the time.
open_new = partial(
    zipfile.ZipFile,
    compression=zipfile.ZIP_DEFLATED,
    compresslevel=1,
    strict_timestamps=False,
)
"""Open a backup that is being written."""


def write_rows(archive: zipfile.ZipFile, name: str, rows: Iterable[list[Any]]) -> None:
    """Write rows of values as JSON Lines."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_encode).encode
    with TextIOWrapper(archive.open(name, "w", force_zip64=True), "utf-8") as file:
        file.writelines(f"{encode(row)}\n" for row in rows)


class Reader(zipfile.ZipFile):
    """An open backup; `place` is where it was read last."""

    place: str | None = None

    def rows(self, name: str, kinds: tuple[type, ...]) -> Iterator[list[Any]]:
        """Read rows of values of these types; none if there is no such part."""
        if name not in self.NameToInfo:
            return
        with self.open(name) as file:
            lines = iter(partial(file.readline, _MOST_AT_ONCE), b"")
            for number, line in enumerate(lines, 1):
                self.place = f"{name}, line {number}"
                row = json.loads(line, object_hook=_decode)
                if len(row) != len(kinds) or not all(map(isinstance, row, kinds)):
                    raise TypeError(f"not {len(kinds)} values of the right types")
                # Rows are used together, so that damage found later may be of an earlier one.
                self.place = f"{name}, up to line {number}"
                yield row

    def verify(self, path: Path, progress: Progress) -> None:
        """Check all names, and read all of it, which compares each part with its checksum."""
        entries = self.infolist()
        most = _MOST_TIMES * max(path.stat().st_size, _BLOCK)
        if sum(entry.file_size for entry in entries) > most:
            raise ValueError(f"it unfolds to more than {_MOST_TIMES} times its size")

        for done, entry in enumerate(entries):
            progress("check backup", done, len(entries))
            self.place = entry.filename
            if not self._is_path(entry.filename):
                raise ValueError("its name is no path")
            # Reading to the end compares the checksum.
            with self.open(entry) as file:
                while file.read(_BLOCK):
                    pass

    def _is_path(self, name: str) -> bool:
        """Whether a part's name is a relative path, not too long, and not below a file."""
        path = PurePosixPath(name)
        leads_out = not {"..", "/"}.isdisjoint(path.parts)
        is_long = any(len(part.encode()) > _MOST_OF_NAME for part in path.parts)
        is_below_file = not self.NameToInfo.keys().isdisjoint(map(str, path.parents))
        return str(path) == name and not (leads_out or is_long or is_below_file)


@contextmanager
def open_backup(path: Path) -> Iterator[Reader]:
    """Open a backup; damage that the block meets is a DataError with the place."""
    try:
        archive = Reader(path)
    except (zipfile.BadZipFile, OSError) as error:
        reason = getattr(error, "strerror", None)
        reason = reason or "it is no backup of cobalance, or not all of it"
        raise DataError(f"{path}: {reason}. Name a whole backup.") from error
    with archive:
        try:
            yield archive
        except _DAMAGE as error:
            reason = f"it is damaged ({type(error).__name__}: {error})"
            raise InputError(str(path), archive.place, reason, "Use another backup.") from error


def _encode(value: object) -> dict[str, str]:
    """A value that JSON has no type for."""
    if isinstance(value, DateTime):
        return {"$time": value.iso_format()}
    if isinstance(value, bytes | bytearray):
        return {"$bytes": base64.b64encode(value).decode()}
    raise TypeError(f"a backup cannot hold {type(value).__name__}")


def _decode(value: dict[str, Any]) -> Any:
    if value.keys() == {"$bytes"}:
        return base64.b64decode(value["$bytes"], validate=True)
    return DateTime.from_iso_format(value["$time"]) if value.keys() == {"$time"} else value
