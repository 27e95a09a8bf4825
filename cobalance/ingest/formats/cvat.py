"""CVAT 1.1: an XML file of images, or of tracks through the frames of a video.

https://docs.cvat.ai/docs/other/xml_format
"""

from collections import defaultdict
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from cobalance.base import decode_xml
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.reader import format_of
from cobalance.vision.images import place_of, turn_box

_FLAGS = {"true": True, "false": False}


def _records(file: str, read: Read) -> Records:
    """Images, and all frames of a video; objects ``outside`` of a frame are not in it."""
    root = decode_xml(read(file))
    for number, image in enumerate(root.iterfind("image"), start=1):
        yield f"image {number}", partial(_image, image)

    shapes_by_frame: dict[int, list[tuple[str, Element]]] = defaultdict(list)
    for track in root.iterfind("track"):
        for shape in track:
            frame = shapes_by_frame[int(shape.get("frame", ""))]
            if shape.get("outside") != "1":
                frame.append((track.get("label", ""), shape))

    meta = root.find("meta")
    if not shapes_by_frame or meta is None:
        return
    video = meta.findtext(".//source") or meta.findtext("*/name") or "video"
    size = [meta.findtext(f".//original_size/{side}") for side in ("width", "height")]

    first = int(meta.findtext("*/start_frame") or 0)
    # Every fifth frame has the filter "step=5".
    step = int((meta.findtext("*/frame_filter") or "").rpartition("=")[2] or 1)
    # The last frames may show nothing, and are in no track.
    last = max(*shapes_by_frame, first + step * (int(meta.findtext("*/size") or 0) - 1))
    for number in range(first, last + 1, step):
        yield (
            f"frame {number}",
            partial(_frame, video, number, size, shapes_by_frame.get(number, ())),
        )


def _image(image: Element) -> Picture:
    picture = Picture(image.get("name", ""), image.get("width"), image.get("height"))
    picture.split = (image.get("subset") or "").lower() or None
    if task := image.get("task_id"):
        picture.metadata["task"] = task
    for shape in image:
        picture.add(shape.get("label", ""), _place(shape), _attributes(shape))
    return picture


def _frame(video: str, number: int, size: list[Any], shapes: Any) -> Picture:
    """A frame, which CVAT may export as a picture of its number."""
    picture = Picture(f"{video}/frame_{number:06}.PNG", size[0], size[1], {VIDEO: video})
    picture.frame = f"{video}#frame={number}"
    for label, shape in shapes:
        picture.add(label, _place(shape), _attributes(shape))
    return picture


def _attributes(shape: Element) -> dict[str, Any]:
    texts = {text.get("name", ""): text.text or "" for text in shape.iterfind("attribute")}
    values: dict[str, Any] = {name: _FLAGS.get(text, text) for name, text in texts.items()}

    if shape.get("occluded") == "1":
        values["occluded"] = True
    return values


def _place(shape: Element) -> dict[str, Any]:
    """Box of a shape, and its outline where that is no upright box."""

    def numbers(*names: str) -> list[float]:
        return [float(shape.get(name, "")) for name in names]

    degrees = float(shape.get("rotation", 0))
    match shape.tag:
        case "mask":
            return {"box": tuple(numbers("left", "top", "width", "height"))}
        case "ellipse":
            x, y, rx, ry = numbers("cx", "cy", "rx", "ry")
            return turn_box((x - rx, y - ry, 2 * rx, 2 * ry), degrees, (x, y))
        case "box":
            x, y, right, bottom = numbers("xtl", "ytl", "xbr", "ybr")
            box = (x, y, right - x, bottom - y)
            return turn_box(box, degrees, ((x + right) / 2, (y + bottom) / 2))
        case "polygon" | "polyline" | "points":
            pairs = (pair.split(",") for pair in shape.get("points", "").split(";"))
            points = [(float(x), float(y)) for x, y in pairs]
            return place_of(points, is_area=shape.tag == "polygon")
    return {}


CVAT = ToolReader(
    "CVAT 1.1 for images or video: an XML file, or a folder or archive with some",
    (b"<annotations",),
    _records,
    (".xml",),
)


PLUGIN = format_of("cvat", CVAT)
