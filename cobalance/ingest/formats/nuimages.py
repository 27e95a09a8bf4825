"""nuImages: JSON tables of a version, whose rows name one another by tokens.

https://github.com/nutonomy/nuscenes-devkit/blob/master/docs/schema_nuimages.md
"""

from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import group_pairs
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.reader import format_of
from cobalance.vision import place_of

_BY_TOKEN = ("attribute", "calibrated_sensor", "category", "log", "sample", "sensor")


def _records(file: str, read: Read) -> Records:
    """Key frames, which alone have objects and surfaces."""
    version = PurePosixPath(file).parent
    tables = {}
    for name in _BY_TOKEN:
        tables[name] = {row["token"]: row for row in _rows(version, name, read)}

    # Masks are long, and not read: rows are kept without them.
    objects_by_frame = group_pairs(
        (row["sample_data_token"], {**row, "mask": None})
        for name in ("object_ann", "surface_ann")
        for row in _rows(version, name, read)
    )

    def follow(row: Any, *names: str) -> Any:
        for name in names:
            row = tables[name][row[f"{name}_token"]]
        return row

    def make(frame: Any) -> Picture:
        log = follow(frame, "sample", "log")
        metadata = {name: log[name] for name in ("location", "vehicle", "logfile")}
        metadata["channel"] = follow(frame, "calibrated_sensor", "sensor")["channel"]
        picture = Picture(frame["filename"], frame["width"], frame["height"], metadata)

        for thing in objects_by_frame.get(frame["token"], ()):
            corners = thing.get("bbox", [])
            place = place_of([corners[:2], corners[2:]] if corners else [])
            states = map(tables["attribute"].__getitem__, thing.get("attribute_tokens", ()))
            flags = {state["name"]: True for state in states}
            picture.add(follow(thing, "category")["name"], place, flags)
        return picture

    for frame in _rows(version, "sample_data", read):
        if frame["is_key_frame"]:
            yield frame["token"], partial(make, frame)


def _rows(version: PurePosixPath, table: str, read: Read) -> Any:
    content = read(str(version / f"{table}.json"))
    return map(msgspec.json.decode, msgspec.json.decode(content, type=list[msgspec.Raw]))


PLUGIN = format_of(
    "nuimages",
    ToolReader(
        "nuImages: JSON tables of a version, such as v1.0-train",
        (),
        _records,
        ("object_ann.json",),
        keys=("/sample_data_token", "/category_token", "/bbox"),
    ),
)
