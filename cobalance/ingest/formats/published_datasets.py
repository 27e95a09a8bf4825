"""JSON of published datasets: Scalabel and BDD100K, Cityscapes, CLEVR, COCO panoptic."""

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.json_records import box_place, json_reader, pairs
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision.images import Point, place_of, place_of_parts


def _scalabel(frame: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    size = beside.get("config", {}).get("imageSize") or frame.get("size") or {}
    picture = Picture(frame["name"], size.get("width"), size.get("height"))
    picture.metadata = dict(frame.get("attributes") or {})

    if frame.get("videoName"):
        picture.metadata[VIDEO] = frame["videoName"]

    for label in frame.get("labels") or ():
        place: dict[str, Any] = {}
        if shapes := label.get("poly2d"):
            place = _place_of_shapes(shapes)
        if box := label.get("box2d"):
            x, y = box["x1"], box["y1"]
            place |= box_place(x, y, box["x2"] - x, box["y2"] - y)
        picture.add(label["category"], place, label.get("attributes"))
    return picture


def _place_of_shapes(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Place of an object of several shapes, all of which Scalabel paints; lines have no area."""
    points, closed = list[Point](), list[list[Point]]()
    for shape in shapes:
        part = [(x, y) for x, y, *_ in shape["vertices"]]
        points += part
        if shape.get("closed"):
            closed.append(part)
    return place_of_parts(closed, cuts_holes=False) | place_of(points, is_area=False)


def _cityscapes(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    picture = Picture(file.partition("_gt")[0], record["imgWidth"], record["imgHeight"])
    picture.file = f"{picture.name}_leftImg8bit.png"
    for figure in record["objects"]:
        picture.add(figure["label"], place_of(pairs(figure["polygon"])))
    return picture


def _clevr(scene: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(scene["image_filename"], split=scene.get("split"))
    for thing in scene["objects"]:
        picture.add(
            thing["shape"], {}, {name: thing[name] for name in ("color", "material", "size")}
        )
    return picture


def _panoptic(record: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    names = {category["id"]: category["name"] for category in beside["categories"]}
    picture = Picture(record["file_name"].removesuffix(".png") + ".jpg")
    for segment in record["segments_info"]:
        picture.add(names[segment["category_id"]], box_place(*segment["bbox"]))
    return picture


TOOLS = {
    "coco-panoptic": json_reader(
        "COCO panoptic", _panoptic, "/annotations.segments_info", key="annotations"
    ),
    "cityscapes": json_reader("Cityscapes", _cityscapes, "imgHeight", "imgWidth", "objects"),
    "clevr": json_reader("CLEVR", _clevr, "scenes", "image_filename", "3d_coords", key="scenes"),
    "scalabel": json_reader(
        "Scalabel, BDD100K", _scalabel, "labels", "category", "box2d", key="frames"
    ),
}

PLUGINS = tuple(starmap(format_of, TOOLS.items()))
