"""Datumaro's JSON: items of a subset a file, of this and earlier versions.

https://docs.openvino.ai/datumaro
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.json_records import box_place, json_reader, pairs, pairs_in_turn
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision import place_of, place_of_ellipse, turn_box


def _datumaro(item: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    """An image, or a frame of a video."""
    labels = beside["categories"]["label"]["labels"]
    if "point_cloud" in item:
        raise ValueError(f"{item['id']!r} is a point cloud, and no image")

    image = item.get("image") or item.get("media") or {}
    height, width = image.get("size") or (None, None)
    picture = Picture(image.get("path") or item["id"], width, height)
    if frame := item.get("video_frame"):
        picture.frame = f"{frame['video_path']}#frame={frame['frame_index']}"
        picture.metadata[VIDEO] = frame["video_path"]

    for annotation in item["annotations"]:
        attributes = dict(annotation.get("attributes") or {})
        # An object of a video that is not in this frame.
        if annotation.get("label_id") is None or attributes.get("outside"):
            continue
        for answers in annotation.get("points_attributes") or ():
            attributes |= answers
        picture.add(_name(labels, annotation["label_id"]), _place(annotation), attributes)
    return picture


def _name(labels: Sequence[Any], number: int) -> str:
    """Name of a label, by its position."""
    if not 0 <= number < len(labels):
        raise ValueError(f"label_id {number} is not in labels ({len(labels)} known)")
    label = labels[number]
    return str(label["name"] if isinstance(label, dict) else label)


def _place(annotation: Any) -> dict[str, Any]:
    """Box and outline of an annotation; none of labels and masks."""
    kind, numbers = annotation["type"], annotation.get("points") or []
    if kind == "rotated_bbox":
        x, y, w, h, degrees = numbers or annotation["bbox"]
        return turn_box((x - w / 2, y - h / 2, w, h), degrees, (x, y))
    if kind == "ellipse" and len(numbers) == 4:
        left, top, right, bottom = numbers
        radii = (right - left) / 2, (bottom - top) / 2
        return place_of_ellipse(((left + right) / 2, (top + bottom) / 2), radii)

    # Points of a skeleton have a third number, which is 0 where it is not in the image.
    if kind == "skeleton":
        triples = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        return place_of([(x, y) for x, y, visible in triples if visible], is_area=False)
    if numbers and not isinstance(numbers[0], int | float):
        return place_of(pairs(numbers), is_area=kind == "polygon")
    if "bbox" in annotation and kind != "points":
        return box_place(*annotation["bbox"])
    return place_of(pairs_in_turn(numbers), is_area=kind == "polygon")


PLUGIN = format_of(
    "datumaro",
    json_reader(
        "Datumaro JSON",
        _datumaro,
        "/categories.label",
        "/items.id",
        key="items",
        beside=("categories",),
    ),
)
