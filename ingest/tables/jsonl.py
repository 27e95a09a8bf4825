"""JSON Lines: one JSON object per line, with the columns as keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa

from graph.progress import Progress
from ingest.coco.records import coco_kind
from ingest.frames import TEXT
from ingest.problems import Problems
from ingest.tables.loading import CHUNK, Table, text_table

_Row = dict[str, msgspec.Raw]
_OBJECT = msgspec.json.Decoder(_Row)
_STRING = msgspec.json.Decoder(str)
_STRINGS = msgspec.json.Decoder(list[str | None])
_NULL = msgspec.Raw(b"null")


@dataclass(frozen=True)
class JsonLines:
    """One object per line; missing keys and null are missing values."""

    description: str = "One JSON object a line"

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether the file starts with an object that is not a COCO file."""
        return head.lstrip()[:1] in (b"{", b"[") and coco_kind(path, head) is None

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; numbers, booleans and lists stay as written."""
        size = path.stat().st_size
        columns = _Columns()
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                text = text.strip()
                if not text:
                    continue
                try:
                    text.decode()
                    full = columns.add(number, _OBJECT.decode(text))
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    problems.record(
                        f"line {number}",
                        f"is not a JSON object ({error})",
                        "Write one JSON object with the columns as keys on each line",
                    )
                else:
                    if full:
                        progress("read", file.tell(), size)
        progress("read", size, size)
        return columns.table(problems)


class _Columns:
    """Collects objects into columns, chunk by chunk; new keys may appear at any line."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._lines: list[int] = []
        self._sizes: list[int] = []
        self._chunks: dict[str, list[pa.Array]] = {}

    def add(self, line: int, row: _Row) -> bool:
        """Add the object of a line; True if that completed a chunk."""
        self._rows.append(row)
        self._lines.append(line)
        if len(self._rows) < CHUNK:
            return False
        self._flush()
        return True

    def table(self, problems: Problems) -> Table:
        """All rows as a table."""
        self._flush()
        return text_table(self._chunks, self._lines, problems)

    def _flush(self) -> None:
        names: dict[str, None] = dict.fromkeys(self._chunks)
        for row in self._rows:
            names.update(dict.fromkeys(row))
        for name in names:
            if name not in self._chunks:
                self._chunks[name] = [pa.nulls(size, TEXT) for size in self._sizes]
            self._chunks[name].append(_column([row.get(name, _NULL) for row in self._rows]))
        self._sizes.append(len(self._rows))
        self._rows = []


def _column(values: Sequence[msgspec.Raw]) -> pa.Array:
    """Strings as text, other values as written; null is null."""
    try:  # all at once: each value is known to be whole, so that joining them is safe
        return pa.array(_STRINGS.decode(b"[" + b",".join(values) + b"]"), TEXT)
    except msgspec.ValidationError:
        return pa.array([_text(bytes(value)) for value in values], TEXT)


def _text(value: bytes) -> str | None:
    if value[:1] == b'"':
        return _STRING.decode(value)
    return None if value == b"null" else value.decode()
