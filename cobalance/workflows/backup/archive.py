"""The backup file: a ZIP of parts, with a manifest that has the SHA-256 of each of them.

Rows of the graph are JSON Lines, all else are files as they were. The digest of the whole is that
of the manifest, and stands in the ZIP's comment. A file from elsewhere is read within limits: its
parts unfold to no more than their stated size, which its own size limits.
"""

import base64
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from neo4j.time import DateTime

from cobalance.graph.errors import DataError
from cobalance.graph.progress import Progress

_MANIFEST = "manifest.json"
_COMMENT = b"cobalance backup sha256:"
_BLOCK = 1 << 20
_LINES = 1_000  # written at once
_LEVEL = 1  # of zlib: a fifth larger than the usual one, in a third of the time
_MOST_TIMES = 200  # as large as its file the parts may be; JSON Lines pack 10 to 40 times
_MOST_AT_ONCE = 1 << 28  # bytes of the manifest, or of a line
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, LookupError, TypeError, ValueError),
    *(AttributeError, RuntimeError),
)


class Writer:
    """Writes a backup to an open file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._parts: dict[str, dict[str, Any]] = {}

    def add_rows(self, name: str, rows: Iterable[object]) -> None:
        """Add rows as JSON Lines."""
        encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_encode).encode
        left, count = iter(rows), 0

        def blocks() -> Iterator[bytes]:
            nonlocal count
            while some := list(islice(left, _LINES)):
                count += len(some)
                yield "".join(f"{encode(row)}\n" for row in some).encode()

        self._add(name, name, blocks())
        self._parts[name]["rows"] = count

    def add_file(self, name: str, file: IO[bytes]) -> None:
        """Add a file as it is: images and Parquet are packed already."""
        self._add(name, zipfile.ZipInfo(name), iter(lambda: file.read(_BLOCK), b""))

    def finish(self, about: Mapping[str, Any]) -> str:
        """Write the manifest, and return the digest of the whole."""
        text = json.dumps({**about, "parts": self._parts}, ensure_ascii=False, indent=1).encode()
        self._zip.writestr(_MANIFEST, text)
        digest = hashlib.sha256(text).hexdigest()
        self._zip.comment = _COMMENT + digest.encode()
        self._zip.close()
        return digest

    def _add(self, name: str, entry: str | zipfile.ZipInfo, blocks: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                digest.update(block)
                size += len(block)
        self._parts[name] = {"bytes": size, "sha256": digest.hexdigest()}


class Reader:
    """An open backup: its digest, its manifest, and the parts by name."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._zip, self.open = path, archive, archive.open
        with self._damage():
            self.digest = archive.comment.removeprefix(_COMMENT).decode()
            if archive.getinfo(_MANIFEST).file_size > _MOST_AT_ONCE:
                raise ValueError("its manifest is too large")
            text = archive.read(_MANIFEST)
            if hashlib.sha256(text).hexdigest() != self.digest:
                raise ValueError("its digest is another one")
            self.about: dict[str, Any] = json.loads(text)
            self.parts: dict[str, dict[str, Any]] = self.about.pop("parts")

    def verify(self, progress: Progress) -> None:
        """Read every part, and compare sizes and digests; DataError where they differ."""
        with self._damage():
            entries = [one for one in self._zip.infolist() if one.filename != _MANIFEST]
            sizes = [(entry.filename, entry.file_size) for entry in entries]
            if sizes != [(name, part["bytes"]) for name, part in self.parts.items()]:
                raise ValueError("its parts are others than its manifest has")
            total, done = sum(size for _, size in sizes), 0
            if total > _MOST_TIMES * max(self._path.stat().st_size, _BLOCK):
                raise ValueError(f"it unfolds to more than {_MOST_TIMES} times its size")
            for name, part in self.parts.items():
                digest = hashlib.sha256()
                with self.open(name) as file:
                    while block := file.read(_BLOCK):
                        digest.update(block)
                        done += len(block)
                        progress("check backup", done, total)
                if digest.hexdigest() != part["sha256"]:
                    raise ValueError(f"{name} has another digest")

    def rows(self, name: str, kind: type) -> Iterator[Any]:
        """Read the rows of a part, which are all of a type; none if there is no such part."""
        if name not in self.parts:
            return
        with self.open(name) as file:
            while line := file.readline(_MOST_AT_ONCE):
                with self._damage():
                    row = json.loads(line, object_hook=_decode)
                    if not isinstance(row, kind):
                        raise TypeError(f"{name} has a row of another kind")
                yield row

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Translate errors of a damaged file to DataError."""
        try:
            yield
        except _DAMAGED as error:
            why = (str(error) or type(error).__name__).rstrip(".")
            raise DataError(f"{self._path} is damaged: {why}. Use another backup.") from error


@contextmanager
def open_backup(path: Path) -> Iterator[Reader]:
    """Open a backup; DataError unless it is a whole one."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        why = getattr(error, "strerror", None) or "it is no backup of cobalance, or not all of it"
        raise DataError(f"{path}: {why}. Name a whole backup.") from error
    with archive:
        yield Reader(path, archive)


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
