"""JSON lines: one JSON object a line, its keys the columns."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from graph.progress import Progress
from ingest.coco import coco_kind
from ingest.problems import Problems
from ingest.reader import collection_paused
from ingest.tables.table import CHUNK, TABLES, Table, TextColumns

_Row = dict[str, msgspec.Raw]
_OBJECT = msgspec.json.Decoder(_Row)
_STRING = msgspec.json.Decoder(str)
_FIX = "Write one JSON object with the columns as keys on each line"


@dataclass(frozen=True)
class JsonLines:
    """One object a line; a key that a line lacks, or null, is a missing value."""

    description: str = "One JSON object a line"

    def detects(self, path: Path, head: bytes) -> bool:
        """Tell whether the file starts with an object that is not a whole COCO file."""
        return head.lstrip()[:1] in (b"{", b"[") and coco_kind(path, head) is None

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; numbers, true and false and lists stay as the text that they are in."""
        size = path.stat().st_size
        names = _keys(path)
        columns = TextColumns(names, problems)
        with path.open("rb") as file, collection_paused():
            for number, line in enumerate(file, start=1):
                if number % CHUNK == 0:
                    progress("read", file.tell(), size)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901
                if line.isspace():
                    continue
                try:
                    row = _OBJECT.decode(line)
                    columns.add(number, [_text(row.get(name)) for name in names])
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    problems.record(f"line {number}", f"is no JSON object ({error})", _FIX)
        progress("read", size, size)
        return columns.table()


def _keys(path: Path) -> list[str]:
    """Give all keys in order of appearance; broken lines are reported later."""
    names: dict[str, None] = {}
    with path.open("rb") as file, collection_paused():
        for line in file:
            try:
                names.update(dict.fromkeys(_OBJECT.decode(line.removeprefix(b"\xef\xbb\xbf"))))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
    return list(names)


def _text(raw: msgspec.Raw | None) -> str | None:
    """Give a string's content, and any other value as it is written; None for null."""
    if raw is None:
        return None
    value = bytes(raw)
    if value[:1] == b'"':
        return _STRING.decode(value)
    return None if value == b"null" else value.decode()


TABLES.register("jsonl", JsonLines())
