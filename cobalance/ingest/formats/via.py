"""VIA 2, the VGG Image Annotator: regions of each image as JSON or CSV."""

import csv
import io
from collections.abc import Mapping
from functools import partial
from itertools import starmap
from typing import Any

import msgspec

from cobalance.ingest.formats.json_records import VIA, box_place, json_reader
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.names import number_items
from cobalance.ingest.reader import format_of
from cobalance.vision.images import place_of

_VIA_CELLS = ("file_attributes", "region_shape_attributes", "region_attributes")


def _via(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(record["filename"], metadata=dict(record.get("file_attributes") or {}))
    for region in number_items(record["regions"]).values():
        shape, place = region["shape_attributes"], dict[str, Any]()
        if shape.get("name") == "rect":
            place = box_place(shape["x"], shape["y"], shape["width"], shape["height"])
        elif "all_points_x" in shape:
            points = list(zip(shape["all_points_x"], shape["all_points_y"], strict=True))
            place = place_of(points, is_area=shape.get("name") == "polygon")

        # Check boxes are an object with a key for each that is ticked.
        for name, answer in region["region_attributes"].items():
            for value in answer if isinstance(answer, dict) else [answer]:
                picture.add(f"{name}: {value}", place)
    return picture


def _via_rows(file: str, read: Read) -> Records:
    """Images of VIA's CSV, which has a row for each region."""
    text = read(file).decode("utf-8-sig").removeprefix("#")
    images: dict[str, dict[str, Any]] = {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        answers, shape, region = (msgspec.json.decode(row[name]) for name in _VIA_CELLS)
        new = {"filename": row["filename"], "file_attributes": answers, "regions": []}
        regions = images.setdefault(row["filename"], new)["regions"]
        regions.append({"shape_attributes": shape, "region_attributes": region})
    for name, record in images.items():
        yield name, partial(_via, record, {}, file)


TOOLS = {
    "via": json_reader("VIA (VGG) JSON", _via, "filename", "regions", "region_attributes", key=VIA),
    "via-csv": ToolReader(
        "VIA (VGG) CSV",
        (rb"^#?filename,.*,region_shape_attributes,",),
        _via_rows,
        (".csv",),
    ),
}

PLUGINS = tuple(starmap(format_of, TOOLS.items()))
