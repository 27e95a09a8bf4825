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

from cobalance.base.errors import DataError, InputError
from cobalance.base.progress import Progress

_BLOCK = 1 << 20
_MOST_TIMES = 200  # as large as its file the parts may be; JSON Lines pack 10 to 40 times
_MOST_AT_ONCE = 1 << 28  # bytes of a line
_MOST_OF_NAME = 200  # bytes; a temporary file's is longer
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, LookupError, TypeError, ValueError),
    *(ArithmeticError, AttributeError, RuntimeError),
)

open_new = partial(
    zipfile.ZipFile,
    compression=zipfile.ZIP_DEFLATED,
    compresslevel=1,  # a fifth larger than the usual one, in a third of the time
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
            for at, line in enumerate(iter(partial(file.readline, _MOST_AT_ONCE), b""), 1):
                self.place = f"{name}, line {at}"
                row = json.loads(line, object_hook=_decode)
                if len(row) != len(kinds) or not all(map(isinstance, row, kinds)):
                    raise TypeError(f"not {len(kinds)} values of the right types")
                self.place = f"{name}, up to line {at}"  # of rows that are used together
                yield row

    def verify(self, path: Path, progress: Progress) -> None:
        """Check all names, and read all of it, which compares each part with its checksum."""
        entries = self.infolist()
        most = _MOST_TIMES * max(path.stat().st_size, _BLOCK)
        if sum(entry.file_size for entry in entries) > most:
            raise ValueError(f"it unfolds to more than {_MOST_TIMES} times its size")
        for done, entry in enumerate(entries):
            progress("check backup", done, len(entries))
            self.place = name = entry.filename
            found = PurePosixPath(name)
            if (
                not {"..", "/"}.isdisjoint(found.parts)
                or str(found) != name
                or any(len(part.encode()) > _MOST_OF_NAME for part in found.parts)
                or not self.NameToInfo.keys().isdisjoint(map(str, found.parents))
            ):
                raise ValueError("its name is no path")
            with self.open(entry) as file:
                while file.read(_BLOCK):
                    pass


@contextmanager
def open_backup(path: Path) -> Iterator[Reader]:
    """Open a backup; damage that the block meets is a DataError with the place."""
    try:
        archive = Reader(path)
    except (zipfile.BadZipFile, OSError) as error:
        why = getattr(error, "strerror", None) or "it is no backup of cobalance, or not all of it"
        raise DataError(f"{path}: {why}. Name a whole backup.") from error
    with archive:
        try:
            yield archive
        except _DAMAGE as error:
            why = f"it is damaged ({type(error).__name__}: {error})"
            raise InputError(str(path), archive.place, why, "Use another backup.") from error


def _encode(value: object) -> dict[str, str]:
    """A value that JSON has no type for."""
    if isinstance(value, DateTime):
        return {"$time": value.iso_format()}
    if isinstance(value, bytes | bytearray):
        return {"$bytes": base64.b64encode(value).decode()}
    raise TypeError(f"a backup cannot hold {type(value).__name__}")


def _decode(found: dict[str, Any]) -> Any:
    if found.keys() == {"$bytes"}:
        return base64.b64decode(found["$bytes"], validate=True)
    return DateTime.from_iso_format(found["$time"]) if found.keys() == {"$time"} else found
