"""Records of JSON files, decoded one by one, and readers of tools whose files hold them.

A function for each tool takes a record as decoded, what the file says beside its records, and the
file's name without its ending. It makes one image of the record, or several.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import UNDECODABLE, Box
from cobalance.ingest.formats.tool_reader import FAULTS, Picture, Read, Records, ToolReader
from cobalance.ingest.names import number_items
from cobalance.vision import Point

Make = Callable[[Any, Mapping[str, Any], str], Picture | Iterable[Picture]]
Survey = Callable[[Sequence[msgspec.Raw]], Mapping[str, Any]]


@dataclass(frozen=True)
class Source:
    """Where the records of a tool's file are.

    `key` leads to a list or an object of records; without it the file is a list, one record, or a
    record a line, and with `is_object` an object of records. `beside` are further keys whose
    values are read, and so is what `survey` finds in all records.
    """

    key: str = ""
    is_object: bool = False
    beside: tuple[str, ...] = ()
    survey: Survey | None = None


def json_reader(title: str, make: Make, *keys: str, key: str = "", **source: Any) -> ToolReader:
    """Reader of files that have all `keys` (see `Outline.has`); others are as of `Source`."""
    records = partial(json_records, make, Source(key, **source))
    return ToolReader(title, (), records, keys=keys)


def json_records(make: Make, source: Source, file: str, read: Read) -> Records:
    """Images of the records of a file."""
    records, beside = decode_file(source, read(file))
    # Records are decoded one by one, so that a malformed one is skipped alone.
    if source.survey is not None:
        beside |= source.survey(list(records.values()))

    stem = PurePosixPath(file).stem
    for number, record in records.items():
        for image in _images(_pictures(make, record, beside, stem)):
            yield f"[{number}]", image


def decode_file(source: Source, content: bytes) -> tuple[dict[Any, msgspec.Raw], dict[str, Any]]:
    """Records by their numbers or names, and the values beside them."""
    content = content.removeprefix(codecs.BOM_UTF8).strip()
    beside: dict[str, Any] = {}
    first, newline, _ = content.partition(b"\n")
    if newline and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        content = b"[" + b",".join(filter(None, map(bytes.strip, content.splitlines()))) + b"]"
    elif content.startswith(b"{"):
        whole = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        for name in source.beside:
            if name in whole:
                beside[name] = msgspec.json.decode(whole[name])
        default = content if source.is_object else b"[" + content + b"]"
        content = bytes(whole.get(source.key, default))

    raw = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    return number_items(raw), beside


def _images(pictures: Iterator[Picture]) -> Iterator[Callable[[], Picture]]:
    """Functions that return each image of a record, or raise the record's error."""
    while True:
        try:
            picture = next(pictures, None)
        except FAULTS as error:
            yield partial(_raise, error)
            return

        if picture is None:
            return
        yield partial(_same, picture)


def _pictures(
    make: Make, record: msgspec.Raw, beside: Mapping[str, Any], file: str
) -> Iterator[Picture]:
    """Images of a record."""
    pictures = make(msgspec.json.decode(record), beside, file)
    if isinstance(pictures, Picture):
        yield pictures
    else:
        yield from pictures


def _same(picture: Picture) -> Picture:
    return picture


def _raise(error: Exception) -> Picture:
    raise error


def decodable(records: Iterable[msgspec.Raw], type_: Any) -> Iterator[Any]:
    """Records of a type; one of another type is an error once it is read itself."""
    decoder = msgspec.json.Decoder(type_)
    for record in records:
        try:
            yield decoder.decode(record)
        except UNDECODABLE:
            continue


def box_place(x: float, y: float, w: float, h: float) -> dict[str, Box]:
    """An upright box as arguments of `Collector.mention`."""
    return {"box": (float(x), float(y), float(w), float(h))}


def corners_place(left: float, top: float, right: float, bottom: float) -> dict[str, Box]:
    """The upright box between two corners."""
    return box_place(left, top, right - left, bottom - top)


def pairs(numbers: Sequence[Any]) -> list[Point]:
    """Points of lists of two numbers; others are an error of their record."""
    return [(x, y) for x, y in numbers]


def pairs_in_turn(numbers: Sequence[float]) -> list[Point]:
    """Points of a list in which x and y take turns."""
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def points_of(objects: Sequence[Any]) -> list[Point]:
    """Points of objects with x and y."""
    return [(point["x"], point["y"]) for point in objects]
