"""COCO files as typed records: decoding them fast, and saying where they are malformed."""

import codecs
import mmap
import re
from dataclasses import dataclass
from pathlib import Path
from types import GenericAlias
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from graph.errors import InputError
from ingest.problems import IntArray, Problems
from ingest.reader import collection_paused

Id = int | str
T = TypeVar("T")
_CHUNK = 1 << 20  # bytes searched at once
_RECORD = re.compile(r"^(?P<record>\w+\[\d+\])\.?(?P<field>.*)$")
# The first of these keys in a file tells what its annotations are.
_MARKS = {b'"category_id"': "instances", b'"bbox"': "instances", b'"caption"': "captions"}


class Image(msgspec.Struct, gc=False):
    """An entry of ``images``."""

    id: Id
    file_name: str | None = None
    width: int | None = None
    height: int | None = None


class Category(msgspec.Struct, gc=False):
    """An entry of ``categories``."""

    id: Id
    name: str


def coco_kind(path: Path, head: bytes) -> str | None:
    """Tell whether a file is a COCO file, and of ``"instances"`` or of ``"captions"``.

    Only as much of it is read as is needed to see the first annotation.
    """
    start = head.lstrip()
    if not start.startswith(b"{") or not _has_coco_keys(start):
        return None
    tail = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            window = tail + chunk
            found = {window.find(mark): kind for mark, kind in _MARKS.items() if mark in window}
            if found:
                return found[min(found)]
            tail = chunk[-32:]
    return "instances"


def _has_coco_keys(start: bytes) -> bool:
    line, newline, _ = start.partition(b"\n")
    if newline or len(start) < _CHUNK:
        try:
            keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # not a whole object: the first of many lines, or cut off
        else:
            return "annotations" in keys or "images" in keys
    return any(f'"{key}"'.encode() in start for key in ("annotations", "images", "categories"))


@dataclass(frozen=True, eq=False)
class Records(Generic[T]):
    """The records of one list of a COCO file.

    Parameters
    ----------
    name : str
        The list's key: ``"annotations"``.
    items : list
        The sound ones.
    positions : int64 array or None
        Where each stands in the file; None where all are sound.
    """

    name: str
    items: list[T]
    positions: IntArray | None = None

    def place(self, row: int) -> str:
        """Name a record as messages do: ``"annotations[812]"``."""
        return f"{self.name}[{row if self.positions is None else int(self.positions[row])}]"


def decode(path: Path, kinds: dict[str, type[Any]], problems: Problems) -> dict[str, Records[Any]]:
    """Decode the lists of a COCO file into typed records, and nothing else of it.

    The whole file is decoded in one go. Only when a record turns out to be malformed, and such
    records are to be skipped, each one is decoded by itself.

    Parameters
    ----------
    kinds : dict of str to type
        The record type of each list, by key.

    Raises
    ------
    InputError
        The file is no JSON, its top level is no object, a list is missing, or a record is
        malformed.
    """
    whole = msgspec.defstruct("CocoFile", [(name, _list_of(kind)) for name, kind in kinds.items()])
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        # msgspec reads a byte order mark as a malformed value.
        content = memoryview(raw)[3 if raw[:3] == codecs.BOM_UTF8 else 0 :]
        try:
            return _decoded(content, whole, kinds, problems)
        finally:
            content.release()


def _list_of(kind: type[Any]) -> Any:
    return GenericAlias(list, (kind,))


def _decoded(
    content: memoryview, whole: type[Any], kinds: dict[str, type[Any]], problems: Problems
) -> dict[str, Records[Any]]:
    try:
        with collection_paused():
            decoded = msgspec.json.decode(content, type=whole)
    except msgspec.ValidationError as error:
        reason, place, fix = _validation_fault(str(error))
        if place is None:
            raise problems.fatal(reason, f"{fix}.") from None
        if problems.on_error == "fail":
            problems.record(place, reason, fix)
        return _decode_singly(bytes(content), kinds, problems)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _syntax_fault(error, content, problems) from None
    return {name: Records(name, getattr(decoded, name)) for name in kinds}


def _decode_singly(
    content: bytes, kinds: dict[str, type[Any]], problems: Problems
) -> dict[str, Records[Any]]:
    """Decode record by record, leaving out the malformed ones."""
    raw_type = msgspec.defstruct("RawCocoFile", [(name, list[msgspec.Raw]) for name in kinds])
    raw = msgspec.json.decode(content, type=raw_type)
    result: dict[str, Records[Any]] = {}
    for name, kind in kinds.items():
        decoder = msgspec.json.Decoder(kind)
        items, positions = [], []
        for position, record in enumerate(getattr(raw, name)):
            try:
                items.append(decoder.decode(record))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                reason, _, fix = _validation_fault(str(error))
                problems.record(f"{name}[{position}]", reason, fix)
            else:
                positions.append(position)
        result[name] = Records(name, items, np.array(positions, dtype=np.int64))
    return result


def _validation_fault(message: str) -> tuple[str, str | None, str]:
    """Turn msgspec's message into a reason, the record's name (None: the file) and a fix.

    Examples
    --------
    >>> _validation_fault("Expected `int`, got `str` - at `$.annotations[8].area`")
    ('area: expected int, got str', 'annotations[8]', 'Correct it')
    """
    reason, _, path = message.partition(" - at `$")
    path = path.rstrip("`").removeprefix(".")
    reason = (reason[:1].lower() + reason[1:]).replace("`", "")
    record = _RECORD.match(path)
    missing = re.search(r"missing required field (\w+)", reason)
    if record is None:
        if missing is not None:
            return (
                f"has no list {missing[1]!r}",
                None,
                "Add it, or pass another --input-format if this is no COCO file of that kind",
            )
        where = f"{path}: " if path else "the top level: "
        return where + reason, None, "Give a COCO file: one object with lists"
    if missing is not None:
        return f"has no {missing[1]}", record["record"], "Add it"
    field = f"{record['field']}: " if record["field"] else ""
    return field + reason, record["record"], "Correct it"


def _syntax_fault(error: Exception, content: memoryview, problems: Problems) -> InputError:
    if isinstance(error, UnicodeDecodeError):
        offset = _first_undecodable(content)
        return problems.fatal(
            f"the byte 0x{content[offset]:02x} is not UTF-8", "Save it as UTF-8.", f"byte {offset}"
        )
    message = str(error)
    if "truncated" in message:
        return problems.fatal(
            "ends in the middle of a value", "Get the whole file again.", f"byte {len(content)}"
        )
    found = re.search(r"\(byte (\d+)\)", message)
    if found is None:
        return problems.fatal(f"is no JSON ({message})", "Correct it.")
    offset = int(found[1])
    reason = f"is no JSON ({message.removeprefix('JSON is malformed: ')})"
    if bytes(content[offset : offset + 9]).startswith((b"NaN", b"Infinity", b"-Infinity")):
        return problems.fatal(
            "JSON has no NaN and no Infinity", "Write null instead.", f"byte {offset}"
        )
    return problems.fatal(reason, "Correct it there, or write the file again.", f"byte {offset}")


def _first_undecodable(content: memoryview) -> int:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(content[start : start + _CHUNK], start + _CHUNK >= len(content))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return 0


def id_columns(*columns: list[Id]) -> tuple[pa.Array, ...]:
    """Give columns of ids, as whole numbers if all of them are, otherwise all as text."""
    try:
        return tuple(pa.array(values, pa.int64()) for values in columns)
    except (pa.ArrowException, OverflowError, TypeError):
        texts = [[str(value) for value in values] for values in columns]
        return tuple(pa.array(values, pa.large_string()) for values in texts)
