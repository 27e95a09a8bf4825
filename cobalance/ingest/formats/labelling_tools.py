"""Images and objects in the JSON of labelling tools that need no more than a function.

Answers about an image are metadata, those about an object attributes. Masks in bits or run lengths
are left out, but not their labels.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from urllib.parse import unquote

from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import (
    box_place,
    corners_place,
    json_reader,
    pairs,
    pairs_in_turn,
    points_of,
)
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of, place_of_ellipse

_AREAS = ("polygon", "rotation", "quadrilateral")


def _labelme(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    """An image of LabelMe, AnyLabeling or X-AnyLabeling."""
    name = record["imagePath"].replace("\\", "/")
    picture = Picture(name, record.get("imageWidth"), record.get("imageHeight"))
    picture.metadata = dict(record.get("flags") or {})

    for shape in record["shapes"]:
        points, kind = pairs(shape["points"]), shape.get("shape_type", "polygon")
        place = place_of(points, is_area=kind in _AREAS)
        if kind == "circle":
            (x, y), (edge_x, edge_y) = points
            radius = ((edge_x - x) ** 2 + (edge_y - y) ** 2) ** 0.5
            place = place_of_ellipse((x, y), (radius, radius))

        attributes = {**(shape.get("flags") or {}), **(shape.get("attributes") or {})}
        for word in ("score", "difficult", "description"):
            # False says as little as nothing.
            attributes |= {word: shape[word]} if shape.get(word) else {}
        picture.add(shape["label"], place, attributes)

    return picture


def _createml(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    """An image of Create ML; one that is classified has the name alone, without a place."""
    names = ("image", "imagefilename", "filename")
    name = next((record[name] for name in names if name in record), None)
    if name is None:
        raise ValueError("names no image")
    picture = Picture(name)
    annotations = record.get("annotations", record.get("annotation", ()))

    for annotation in [annotations] if isinstance(annotations, str | dict) else annotations:
        if isinstance(annotation, str):
            picture.add(annotation, {})
        else:
            place: dict[str, Any] = {}
            if "coordinates" in annotation:
                x, y, w, h = itemgetter("x", "y", "width", "height")(annotation["coordinates"])
                place = box_place(x - w / 2, y - h / 2, w, h)
            picture.add(annotation["label"], place)

    return picture


def _vott(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    """An asset of Microsoft's Visual Object Tagging Tool."""
    asset = record["asset"]
    size = asset.get("size") or {}
    name = unquote(asset.get("name") or asset["path"]).rpartition("/")[2]
    picture = Picture(name, size.get("width"), size.get("height"))

    for region in record.get("regions") or ():
        place = place_of(points_of(region.get("points") or ()))
        if box := region.get("boundingBox"):
            box = box_place(box["left"], box["top"], box["width"], box["height"])
            place = box if region.get("type") in (None, "RECTANGLE", "SQUARE") else place | box
        for tag in region["tags"]:
            picture.add(tag, place)

    return picture


def _superannotate(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    """An image of SuperAnnotate."""
    about = record["metadata"]
    if "duration" in about:
        raise ValueError("is a video, whose frames SuperAnnotate does not name")

    picture = Picture(about["name"], about.get("width"), about.get("height"))
    tags = [tag if isinstance(tag, str) else tag["name"] for tag in record.get("tags") or ()]
    picture.metadata = dict.fromkeys(tags, True)

    for thing in record["instances"]:
        attributes = thing.get("attributes") or ()
        answers = gather((answer["groupName"], answer["name"]) for answer in attributes)
        picture.add(thing["className"], _superannotate_place(thing), answers)

    return picture


def _superannotate_place(thing: Any) -> dict[str, Any]:
    """Box and outline of an instance; none of masks, templates and tags."""
    points = thing.get("points")
    match thing.get("type"):
        case "bbox":
            return corners_place(*itemgetter("x1", "y1", "x2", "y2")(points))
        case "rbbox":
            return place_of([(points[f"x{corner}"], points[f"y{corner}"]) for corner in "1234"])
        case "polygon" | "polyline":
            return place_of(pairs_in_turn(points), is_area=thing["type"] == "polygon")
        case "ellipse":
            radii = thing["rx"], thing["ry"]
            return place_of_ellipse((thing["cx"], thing["cy"]), radii, thing.get("angle") or 0)
        case "point":
            return place_of([(thing["x"], thing["y"])])
        case "cuboid":
            sides = points.values()
            return place_of([(side[f"x{end}"], side[f"y{end}"]) for side in sides for end in "12"],
                            is_area=False)  # fmt: skip
        case "template":
            return place_of(points_of(points or ()), is_area=False)

    return {}


PLUGINS = formats_of(
    {
        "labelme": json_reader("LabelMe JSON", _labelme, "shapes", "imagePath"),
        "createml": json_reader(
            "Create ML JSON",
            _createml,
            "image|imagefilename",
            "annotations|annotation",
            "coordinates",
        ),
        "vott": json_reader("VoTT JSON", _vott, "asset.path|asset.name", "regions", key="assets"),
        "superannotate": json_reader(
            "SuperAnnotate JSON", _superannotate, "/metadata.name", "/instances", "/tags|/comments"
        ),
    }
)
