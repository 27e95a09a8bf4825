"""JSON Lines: one JSON object per line, with the columns as keys; or a list of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import pyarrow as pa

from cobalance.base import UNDECODABLE, Progress, decoding_fault
from cobalance.ingest.coco import coco_kind
from cobalance.ingest.frames import TEXT
from cobalance.ingest.outline import outline_of
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.guesses import USUAL_NAMES, normal_name
from cobalance.ingest.tables.loading import EMPTY_CELL, Rows, Table
from cobalance.ingest.tables.row_values import NAMES
from cobalance.ingest.trees import LONGEST_LINE, lines_of
from cobalance.ingest.unread_json import unread_form

_DEEPEST = 3  # keys in one another, as in lists of objects with attributes
_LINES = (".jsonl", ".ndjson", ".odgt")
# An image as an object has one of these, as Hugging Face's `Image` has a path beside its bytes.
_PLACES = ("path", "file_name", "filename", "uri", "url")
_PLACES_OF_IMAGES = {*USUAL_NAMES["id"], *USUAL_NAMES["uri"]}
_NAMES_OF_IMAGES = {"id", "image", "image_id", "file_name", "filename", "image_path", "path"}
_Row = dict[str, msgspec.Raw]
_ROWS = msgspec.json.Decoder(_Row | list[_Row])
_STRING = msgspec.json.Decoder(str)
_STRINGS = msgspec.json.Decoder(list[str | None])
_REMEDY = (
    "Write one JSON object with the columns as keys on each line, as pandas does with "
    "orient='records', lines=True"
)


@dataclass(frozen=True)
class JsonLines:
    """One object per line, or a list of them; missing keys and null are missing values."""

    description: str = "One JSON object a line"

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether it has a record a line or a list of records; or one record that names its image.

        Records are those of a table if no value is an object of objects of objects.
        """
        if head.lstrip()[:1] not in (b"{", b"[") or coco_kind(path) is not None:
            return False

        outline = outline_of(path)
        names = {name.lower() for name in outline.top}
        names_image, is_lines = not names.isdisjoint(_NAMES_OF_IMAGES), path.suffix in _LINES

        # What a line of a table says beside its image may be as deep as it likes.
        is_deep = max(map(len, outline.paths), default=0) > _DEEPEST
        is_foreign = is_deep and not (names_image and is_lines)
        if is_foreign or unread_form(outline, str(path)) is not None:
            return False
        # Any document is an object: one that is a table's only row has a column that is called so.
        return outline.root != "object" or is_lines or names_image

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; numbers, booleans and lists stay as written."""
        size = path.stat().st_size
        rows = Rows(problems, partial(_convert, problems))
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file, size, problems), start=1):
                text = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
                if not text:
                    continue
                try:
                    text.decode()
                    document = _ROWS.decode(text)
                except UNDECODABLE as error:
                    problems.record(
                        f"line {number}", f"is not a JSON object ({decoding_fault(error)})", _REMEDY
                    )
                    continue

                if isinstance(document, list):
                    rows.place = "row"
                    records = document
                else:
                    records = [document]
                    # As pandas writes a frame unless it is told orient='records'.
                    if number == 1 and all(bytes(cell)[:1] in b"[{" for cell in document.values()):
                        raise problems.fatal("holds whole columns in one object", f"{_REMEDY}.")
                if sum(rows.add(row, record) for row, record in enumerate(records, start=number)):
                    progress("read", file.tell(), size)
        progress("read", size, size)
        return rows.table()


def _lines(file: IO[bytes], size: int, problems: Problems) -> Iterator[bytes]:
    """Lines of a file, of which a list that goes over several is one."""
    start = file.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf").strip()
    file.seek(0)
    if not start.startswith(b"[") or start.endswith(b"]"):
        return lines_of(file, problems.file)

    # It is one value, and read whole.
    problems.within("table_mb", size)
    return iter([file.read()])


def _convert(problems: Problems, rows: list[_Row]) -> pa.Table:
    """Columns of some rows, gathered in one pass over the keys that are there."""
    places: dict[str, list[int]] = {}
    values: dict[str, list[msgspec.Raw]] = {}

    for position, row in enumerate(rows):
        for name, value in row.items():
            places.setdefault(name, []).append(position)
            values.setdefault(name, []).append(value)
        problems.within("columns", len(places))

    problems.within("table_mb", EMPTY_CELL * len(places) * len(rows))
    return pa.table(
        {name: _spread(_column(name, values[name]), places[name], len(rows)) for name in places}
    )


def _spread(column: pa.Array, places: list[int], n_rows: int) -> pa.Array:
    """Put values in their rows, null in the others."""
    if len(places) == n_rows:
        return column
    position = np.full(n_rows, -1, dtype=np.int64)
    position[places] = np.arange(len(places))
    return column.take(pa.array(position, mask=position < 0))


def _column(name: str, values: Sequence[msgspec.Raw]) -> pa.Array:
    """Strings as text, other values as written; null is null."""
    # All at once: joining is safe, as each is one complete JSON value.
    try:
        return pa.array(_STRINGS.decode(b"[" + b",".join(values) + b"]"), TEXT)
    except msgspec.ValidationError:
        keys = _keys_of_names(name)
        return pa.array([_text(bytes(value), keys) for value in values], TEXT)


def _keys_of_names(column: str) -> Sequence[str]:
    """Keys by which an object is named in a column that is called as images or classes are."""
    name = normal_name(column)
    if name in _PLACES_OF_IMAGES:
        return _PLACES
    return NAMES if name in USUAL_NAMES["class"] else ()


def _text(value: bytes, keys: Sequence[str]) -> str | None:
    """Return a value as text; an object becomes its name, where one of the keys has it."""
    if value[:1] == b'"':
        return _STRING.decode(value)
    if value[:1] == b"{" and keys:
        record = msgspec.json.decode(value)
        named = next((record[key] for key in keys if isinstance(record.get(key), str)), None)
        if named is not None:
            return str(named)
    return None if value == b"null" else value.decode()
