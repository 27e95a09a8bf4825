"""Records of JSON files, decoded one by one, and readers of tools whose files hold them.

A function for each tool takes a record as decoded, the lists beside it, and the file's name
without its ending.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import Box
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.names import number_items
from cobalance.vision.images import Point

Make = Callable[[Any, Mapping[str, Any], str], Picture]
VIA = "_via_img_metadata"
"""In projects of VIA; each key of it, as of its other files, is an image's."""

_BESIDE = {"categories", "config"}


def _records(make: Make, key: str, file: str, read: Read) -> Records:
    """Records of a list, of the list or object with a key, of lines, or the whole file as one."""
    content = read(file).removeprefix(b"\xef\xbb\xbf").strip()
    beside: dict[str, Any] = {}
    first, newline, _ = content.partition(b"\n")
    if newline and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        content = b"[" + b",".join(content.splitlines()) + b"]"
    elif content.startswith(b"{"):
        whole = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        beside = {name: msgspec.json.decode(whole[name]) for name in _BESIDE & whole.keys()}
        # Without the key the file is one record; VIA's other files are the object itself.
        default = content if key == VIA else b"[" + content + b"]"
        content = bytes(whole.get(key, default))

    # Records are decoded one by one, so that a malformed one is skipped alone.
    raw = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    for number, record in number_items(raw).items():
        yield f"[{number}]", partial(_make, make, record, beside, PurePosixPath(file).stem)


def _make(make: Make, record: msgspec.Raw, beside: Mapping[str, Any], file: str) -> Picture:
    return make(msgspec.json.decode(record), beside, file)


def box_place(x: float, y: float, w: float, h: float) -> dict[str, Box]:
    """An upright box as arguments of `Collector.mention`."""
    return {"box": (float(x), float(y), float(w), float(h))}


def pairs(numbers: Sequence[Any]) -> list[Point]:
    """Points of lists of two numbers; others are an error of their record."""
    return [(x, y) for x, y in numbers]


def points_of(objects: Sequence[Any]) -> list[Point]:
    """Points of objects with x and y."""
    return [(point["x"], point["y"]) for point in objects]


def json_reader(title: str, make: Make, *keys: str, key: str = "") -> ToolReader:
    """Reader of files that have all `keys` (see `Outline.has`), and records below `key`, if any."""
    return ToolReader(title, (), partial(_records, make, key), keys=keys)
