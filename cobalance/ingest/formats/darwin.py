"""Darwin JSON of V7: an item a file, with its slots and annotations."""

from collections.abc import Mapping
from itertools import starmap
from typing import Any

from cobalance.ingest.formats.json_records import box_place, json_reader, points_of
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision.images import place_of_parts


def _darwin(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    item, slot = record["item"], record["item"]["slots"][0]
    picture = Picture(item["name"], slot.get("width"), slot.get("height"))
    for annotation in record["annotations"]:
        place: dict[str, Any] = {}
        if "polygon" in annotation:
            paths = annotation["polygon"]["paths"]
            parts = list(map(points_of, paths))
            # A path within another cuts a hole, as darwin-py paints them.
            place = place_of_parts(parts, cuts_holes=True)
        elif box := annotation.get("bounding_box"):
            place = box_place(box["x"], box["y"], box["w"], box["h"])

        flags = dict.fromkeys(annotation.get("attributes") or (), True)
        picture.add(annotation["name"], place, flags)
    return picture


TOOLS = {
    "darwin": json_reader("Darwin JSON of V7", _darwin, "item", "slots", "annotations"),
}

PLUGINS = tuple(starmap(format_of, TOOLS.items()))
