"""VIA, the VGG Image Annotator: regions of each image as JSON or CSV of VIA 2, and VIA 3 projects.

https://gitlab.com/vgg/via
"""

import csv
import io
from collections.abc import Iterator, Mapping
from functools import partial
from math import degrees
from typing import Any

import msgspec

from cobalance.base import group_pairs
from cobalance.ingest.formats.answers import ticked_options, without_own_words
from cobalance.ingest.formats.json_records import box_place, json_reader, pairs_in_turn
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.names import map_values, number_items
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of, place_of_ellipse

_PROJECT = "_via_img_metadata"  # in projects; each key of it, as of other files, is an image's
_CELLS = ("file_attributes", "region_shape_attributes", "region_attributes")
_IMAGE, _TEXT = 2, 1  # types of VIA 3's files and attributes


def _via(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    answers = map_values(ticked_options, record.get("file_attributes") or {})
    picture = Picture(record["filename"], metadata=without_own_words(answers))

    for region in number_items(record["regions"]).values():
        place = _place(region["shape_attributes"])
        # Check boxes are an object with a key for each that is ticked.
        answers = map_values(ticked_options, region["region_attributes"])
        for name, answer in without_own_words(answers).items():
            for value in answer if isinstance(answer, list) else [answer]:
                picture.add(f"{name}: {value}", place)

    return picture


def _place(shape: Any) -> dict[str, Any]:
    """Box and outline of a region."""
    kind = shape.get("name")
    if kind == "rect":
        return box_place(shape["x"], shape["y"], shape["width"], shape["height"])

    if kind in ("circle", "ellipse"):
        radii = (shape["r"], shape["r"]) if kind == "circle" else (shape["rx"], shape["ry"])
        angle = degrees(shape.get("theta") or 0)
        return place_of_ellipse((shape["cx"], shape["cy"]), radii, angle)

    if kind == "point":
        return place_of([(shape["cx"], shape["cy"])])
    if "all_points_x" not in shape:
        return {}

    points = list(zip(shape["all_points_x"], shape["all_points_y"], strict=True))
    return place_of(points, is_area=kind == "polygon")


def _via_rows(file: str, read: Read) -> Records:
    """Images of VIA's CSV, which has a row for each region."""
    text = read(file).decode("utf-8-sig").removeprefix("#")
    images: dict[str, dict[str, Any]] = {}

    for row in csv.DictReader(io.StringIO(text, newline="")):
        answers, shape, region = (msgspec.json.decode(row[name]) for name in _CELLS)
        new = {"filename": row["filename"], "file_attributes": answers, "regions": []}
        regions = images.setdefault(row["filename"], new)["regions"]
        regions.append({"shape_attributes": shape, "region_attributes": region})

    for name, record in images.items():
        yield name, partial(_via, record, {}, file)


def _via_3(project: Any, _beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """Images of a project of VIA 3, each of them in a view of its own."""
    answers_of_view = group_pairs(
        (metadata["vid"], metadata) for metadata in project["metadata"].values()
    )

    for number, view in project["view"].items():
        for file_id in view["fid_list"]:
            file = project["file"][file_id]
            if file["type"] != _IMAGE:
                raise ValueError(f"{file['fname']!r} is a video or a sound, which is not read")
            picture = Picture(file["fname"])
            for metadata in answers_of_view.get(number, ()):
                _show(metadata, project["attribute"], picture)
            yield picture


def _show(metadata: Any, attributes: Mapping[str, Any], picture: Picture) -> None:
    """Add a region, or answers about the image, to its picture."""
    answers = {}
    for number, value in metadata["av"].items():
        attribute = attributes[number]
        options = attribute.get("options") or {}
        # Several ticked options have a comma between them.
        chosen = [value] if attribute["type"] == _TEXT else str(value).split(",")
        answers[attribute["aname"]] = list(map(options.get, chosen, chosen))

    answers = without_own_words(answers)
    if not metadata["xy"]:
        picture.metadata |= answers
    else:
        for name, answer in answers.items():
            for value in answer if isinstance(answer, list) else [answer]:
                picture.add(f"{name}: {value}", _place_3(metadata["xy"]))


def _place_3(shape: Any) -> dict[str, Any]:
    """Box and outline of a region, whose first number is its kind."""
    match shape:
        case [2 | 8, x, y, width, height]:
            return box_place(x, y, width, height)
        case [3 | 9, x, y, radius]:
            return place_of_ellipse((x, y), (radius, radius))
        case [4, x, y, across, down]:
            return place_of_ellipse((x, y), (across, down))
        case [1 | 5 | 6 | 7 as kind, *numbers]:
            return place_of(pairs_in_turn(numbers), is_area=kind == 7)

    return {}


PLUGINS = formats_of(
    {
        "via": json_reader(
            "VIA (VGG) JSON",
            _via,
            "filename",
            "regions",
            "region_attributes",
            key=_PROJECT,
            is_object=True,
        ),
        "via-csv": ToolReader(
            "VIA (VGG) CSV",
            (rb"^#?filename,.*,region_shape_attributes,",),
            _via_rows,
            (".csv",),
        ),
        "via-3": json_reader(
            "VIA 3 project", _via_3, "/project.vid_list", "/attribute", "/view", "/file"
        ),
    }
)
