"""Decode COCO files into typed records, and locate malformed ones."""

import codecs
import re
from collections.abc import Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import GenericAlias
from typing import Any, Generic

import msgspec
import numpy as np
import pyarrow as pa

from cobalance.base import (
    UNDECODABLE,
    InputError,
    IntArray,
    Setting,
    T,
    Text,
    decoding_fault,
    parts_of,
)
from cobalance.ingest.names import omit
from cobalance.ingest.outline import Outline, outline_of
from cobalance.ingest.problems import Problems

Id = int | str
_CHUNK = 1 << 20  # bytes searched at once
_RECORD = re.compile(r"^(?P<record>\w+\[\d+\])\.?(?P<field>.*)$")
_IS_COCO = "/images.file_name|/images.coco_url|/annotations.image_id|/annotations.category_id"
_IS_REGION = "/annotations.bbox|/annotations.segmentation"
_IS_OTHER = "/images.annotations|/images.sentences|/videos|/annotations.segments_info"


class Image(msgspec.Struct, gc=False):
    """An entry of ``images``."""

    id: Id
    file_name: str | None = None
    width: int | None = None
    height: int | None = None
    license: Any = None
    flickr_url: Any = None
    coco_url: Any = None
    attribution: Any = None


class Category(msgspec.Struct, gc=False):
    """An entry of ``categories``."""

    id: Id
    name: str


class License(msgspec.Struct, gc=False):
    """An entry of ``licenses``."""

    id: Id
    name: str | None = None
    url: str | None = None


class Attribute(msgspec.Struct, gc=False):
    """An entry of Fashionpedia's ``attributes``."""

    id: Id
    name: str
    supercategory: str = "attribute"


_OPTIONAL = {"licenses": License, "attributes": Attribute}
"""Lists that may be missing, or hold anything."""
_OPTIONAL_FIELDS = [(name, Any, None) for name in _OPTIONAL]


def coco_kind(path: Path) -> str | None:
    """Detect a COCO file by its keys: ``"instances"``, ``"captions"`` or None."""
    outline = outline_of(path)
    if not is_coco(outline):
        return None

    # Some tools write a category beside each caption.
    if outline.has("/annotations.caption") and not outline.has(_IS_REGION):
        return "captions"
    return "instances"


def is_coco(outline: Outline) -> bool:
    """Whether a document has the keys of a COCO file of any kind."""
    has_keys = outline.has("/images", "/annotations") or outline.has(_IS_COCO)
    return outline.root == "object" and has_keys and not outline.has(_IS_OTHER)


@dataclass(frozen=True, eq=False)
class Records(Generic[T]):
    """Valid records of one list of a COCO file, `name` its key.

    `positions` (int64) has the position of each record in the file; None if none was left out.
    """

    items: list[T]
    name: str
    positions: IntArray | None = None

    def place(self, row: int) -> str:
        """Name a record for messages: ``"annotations[812]"``."""
        return f"{self.name}[{row if self.positions is None else int(self.positions[row])}]"


def decode(
    path: Path, kind: str, types: Mapping[str, type[Any]], problems: Problems
) -> dict[str, Records[Any]]:
    """Decode lists of a COCO file into typed records, and its licences and attributes.

    Other keys are ignored, and so are malformed licences (`License`) and attributes (`Attribute`).

    The file is decoded at once; only if a record is malformed and to be skipped are the records
    decoded one by one. A field of the type `msgspec.Raw` is a view of the content, which stays in
    memory as long as any view does.

    Parameters
    ----------
    kind : {"instances", "captions"}
        Expected kind of annotations.
    types : dict of str to type
        Record type of each list, by key.

    Raises
    ------
    InputError
        The file is not JSON, its top level is not an object, a list is missing, or a record is
        malformed.
    """
    # Not memory-mapped: raw values are views of the content, and reading a mapped file that has
    # been truncated kills the process.
    raw = path.read_bytes()
    # msgspec reads a byte order mark as a malformed value.
    content = memoryview(raw.removeprefix(codecs.BOM_UTF8))

    try:
        decoded, raw_images = _decode_lists(content, types, problems)
    except msgspec.ValidationError as error:
        _check_kind(path, kind, problems)
        reason, place, fix = _validation_fault(str(error))
        if place is None:
            raise problems.fatal(reason, (*parts_of(fix), ".")) from None
        if problems.options.on_error == "fail":
            problems.record(place, reason, fix)
        return _decode_singly(content, types, problems)

    for name in types:
        _check_number(name, getattr(decoded, name), problems)
    records = {name: Records(getattr(decoded, name), name) for name in types}
    return {**records, **_optional_lists(decoded), "further": _further(raw_images, problems)}


def _decode_lists(
    content: memoryview, types: Mapping[str, type[Any]], problems: Problems
) -> tuple[Any, list[msgspec.Raw]]:
    """Decode the lists of a file, and images, if they are wanted, once more as they are written."""
    lists: dict[str, Any] = {name: GenericAlias(list, (type_,)) for name, type_ in types.items()}
    if "images" not in lists:
        return _decode_all(content, _file_type(lists), problems), []

    with_raw_images = _file_type({**lists, "images": msgspec.Raw})
    try:
        decoded = msgspec.json.decode(content, type=with_raw_images)
        raw_images = msgspec.json.decode(decoded.images, type=list[msgspec.Raw])
        decoded.images = msgspec.json.decode(decoded.images, type=lists["images"])
    except UNDECODABLE:
        # All in one, it says where the fault is.
        decoded, raw_images = _decode_all(content, _file_type(lists), problems), []
    return decoded, raw_images


def _file_type(lists: Mapping[str, Any]) -> type[Any]:
    """The type of a file with lists of these types."""
    return msgspec.defstruct("CocoFile", [*lists.items(), *_OPTIONAL_FIELDS])


def _further(images: list[msgspec.Raw], problems: Problems) -> Records[bytes]:
    """Further fields of each image as JSON; none if the first hundred have no such field."""
    read = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    usual_fields = {*Image.__struct_fields__, "date_captured", "cobalance"} - {
        *problems.options.field
    }

    def others_of(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
        return omit(read(raw), usual_fields)

    try:
        if all(read(raw).keys() <= usual_fields for raw in images[:100]):
            return Records([], "images")
        return Records([msgspec.json.encode(others_of(raw)) for raw in images], "images")
    except UNDECODABLE as error:
        raise problems.fatal(
            f"has an image with a field that is no JSON ({decoding_fault(error)})",
            "Write its fields as JSON in UTF-8.",
        ) from None


def _optional_lists(decoded: Any) -> dict[str, Records[Any]]:
    """Licences and attributes of a file, without malformed ones."""
    records: dict[str, Records[Any]] = {}
    for name, type_ in _OPTIONAL.items():
        listed, items = getattr(decoded, name), []
        if not isinstance(listed, list):
            listed = []
        for record in listed:
            with suppress(msgspec.ValidationError):
                items.append(msgspec.convert(record, type_))
        records[name] = Records(items, name)
    return records


def _check_number(name: str, records: Sized, problems: Problems) -> None:
    limit = {"annotations": "mentions"}.get(name, "rows")
    problems.within(limit, len(records), what=name)


def _check_kind(path: Path, kind: str, problems: Problems) -> None:
    other = coco_kind(path)
    if other is not None and other != kind:
        raise problems.fatal(
            f"is a COCO file of {other}, not of {kind}",
            (
                "Read it with ",
                Setting("input_format", f"coco-{other}"),
                f", or name a file of {kind}.",
            ),
        )


def _decode_all(content: memoryview, type_: type[Any], problems: Problems) -> Any:
    """Decode JSON; a syntax error is reported with its position."""
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError:
        raise
    except UNDECODABLE as error:
        raise syntax_fault(error, content, problems) from None


def _decode_singly(
    content: memoryview, types: Mapping[str, type[Any]], problems: Problems
) -> dict[str, Records[Any]]:
    """Decode record by record, and skip malformed ones."""
    raw_type = _file_type(dict.fromkeys(types, list[msgspec.Raw]))
    try:
        raw = _decode_all(content, raw_type, problems)
    except msgspec.ValidationError as error:
        reason, _, fix = _validation_fault(str(error))
        raise problems.fatal(reason, (*parts_of(fix), ".")) from None

    result = _optional_lists(raw)
    for name, type_ in types.items():
        _check_number(name, getattr(raw, name), problems)
        decoder = msgspec.json.Decoder(type_)
        items, positions = [], []
        for position, record in enumerate(getattr(raw, name)):
            try:
                items.append(decoder.decode(record))
            except UNDECODABLE as error:
                # Paths in messages begin at the record, and are read as those of the file.
                reason, _, path = decoding_fault(error).partition(" - at `$")
                place = f"{name}[{position}]"
                reason, _, fix = _validation_fault(f"{reason} - at `$.{place}{path}")
                problems.record(place, reason, fix)
            else:
                positions.append(position)

        result[name] = Records(items, name, np.array(positions, dtype=np.int64))
        if name == "images":
            images = [raw.images[position] for position in positions]
            result["further"] = _further(images, problems)
    return result


def _validation_fault(message: str) -> tuple[str, str | None, Text]:
    """Split msgspec's message into a reason, the record's name (None: the file) and a fix.

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
                (
                    "Add it, or choose another ",
                    Setting("input_format"),
                    " if this is no COCO file of that kind",
                ),
            )
        where = f"{path}: " if path else "the top level: "
        return where + reason, None, "Give a COCO file: one object with lists"
    if missing is not None:
        return f"has no {missing[1]}", record["record"], "Add it"

    reason = ": ".join(filter(None, (record["field"], reason)))
    return reason, record["record"], "Correct it"


def syntax_fault(error: Exception, content: memoryview, problems: Problems) -> InputError:
    """The error of content that is no JSON, with its position."""
    if isinstance(error, UnicodeDecodeError):
        offset = _first_undecodable(content)
        return problems.fatal(
            f"the byte 0x{content[offset]:02x} is not UTF-8", "Save it as UTF-8.", f"byte {offset}"
        )

    message = decoding_fault(error)
    if "truncated" in message:
        return problems.fatal(
            "ends in the middle of a value", "Get the whole file again.", f"byte {len(content)}"
        )

    position = re.search(r"\(byte (\d+)\)", message)
    if position is None:
        return problems.fatal(f"is not valid JSON ({message})", "Correct it.")

    offset = int(position[1])
    reason = f"is not valid JSON ({message.removeprefix('JSON is malformed: ')})"
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
    """Columns of ids: integers if all of them are, otherwise text."""
    try:
        return tuple(pa.array(values, pa.int64()) for values in columns)
    except (pa.ArrowException, OverflowError, TypeError):
        return tuple(pa.array(list(map(str, values)), pa.large_string()) for values in columns)
