"""CVAT 1.1: an XML file of images, or of tracks through the frames of a video.

https://docs.cvat.ai/docs/other/xml_format
"""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from cobalance.base import decode_xml
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.names import split_named
from cobalance.ingest.reader import format_of
from cobalance.vision import Point, place_of, place_of_ellipse, turn_box

_Shapes = Sequence[tuple[str, Element]]
"""Labels and shapes of a frame."""
_CORNERS = ("tl1", "bl1", "tr1", "br1", "tl2", "bl2", "tr2", "br2")  # of both sides of a cuboid
_FLAGS = {"true": True, "false": False}


class _Video(NamedTuple):
    """A task or job whose frames are images: its name, first frame, step, size and picture size."""

    name: str
    first: int
    step: int
    n_frames: int
    size: tuple[str | None, str | None]
    split: str | None


def _records(file: str, read: Read) -> Records:
    """Images, and all frames of videos; objects ``outside`` of a frame are not in it."""
    root = decode_xml(read(file))
    images = root.findall("image")
    n_images = Counter(map(_key, images))
    for number, image in enumerate(images, start=1):
        yield f"image {number}", partial(_image, image, is_repeated=n_images[_key(image)] > 1)

    shapes_by_task: dict[str, dict[int, list[tuple[str, Element]]]] = {}
    for track in root.iterfind("track"):
        shapes_by_frame = shapes_by_task.setdefault(track.get("task_id", ""), defaultdict(list))
        for shape in track:
            frame = shapes_by_frame[int(shape.get("frame", ""))]
            if shape.get("outside") != "1":
                frame.append((track.get("label", ""), shape))

    meta = root.find("meta")
    if not shapes_by_task or meta is None:
        return
    for task, video in _videos(meta).items():
        yield from _frames(task, video, shapes_by_task.get(task, {}))


def _videos(meta: Element) -> dict[str, _Video]:
    """Videos of a project by the ids of their tasks, or the one of a task or job."""
    tasks = meta.findall("project/tasks/task")
    videos = dict[str, _Video]()
    for task in tasks or [meta]:
        about = task if tasks else next(iter(meta.findall("task") + meta.findall("job")), meta)
        name = task.findtext(".//source") or about.findtext("name") or "video"
        width = task.findtext(".//original_size/width")
        height = task.findtext(".//original_size/height")

        # Every fifth frame has the filter "step=5".
        step = int((about.findtext("frame_filter") or "").rpartition("=")[2] or 1)
        first, n_frames = int(about.findtext("start_frame") or 0), int(about.findtext("size") or 0)
        key = (about.findtext("id") or "") if tasks else ""
        # Frames of two tasks are never one image, whatever these are called.
        if any(name == other.name for other in videos.values()):
            name = f"{name} ({key})"
        split = split_named(task.findtext("subset") or "") if tasks else None
        videos[key] = _Video(name, first, step, n_frames, (width, height), split)
    return videos


def _frames(task: str, video: _Video, shapes: Mapping[int, _Shapes]) -> Records:
    # The last frames may show nothing, and are in no track.
    last = max([*shapes, video.first + video.step * (video.n_frames - 1)])
    place = f"task {task}, " if task else ""
    for number in range(video.first, last + 1, video.step):
        make = partial(_frame, video, number, shapes.get(number, ()))
        yield f"{place}frame {number}", make


def _key(image: Element) -> tuple[str, str]:
    return image.get("subset") or "", image.get("name") or ""


def _image(image: Element, *, is_repeated: bool) -> Picture:
    picture = Picture(image.get("name", ""), image.get("width"), image.get("height"))
    subset, task = image.get("subset") or "", image.get("task_id") or ""
    picture.split = subset.lower() or None
    if task:
        picture.metadata["task"] = task
    # Tasks of a project, and of one of its subsets, may have images of one name.
    folders = [subset or task]
    if subset and is_repeated:
        folders.append(task)
    picture.full_name = posixpath.join(*folders, picture.name)

    for shape in image:
        picture.add(shape.get("label", ""), _place(shape), _attributes(shape))
    return picture


def _frame(video: _Video, number: int, shapes: _Shapes) -> Picture:
    """A frame, which CVAT may export as a picture of its number."""
    picture = Picture(f"{video.name}/frame_{number:06}.PNG", *video.size, {VIDEO: video.name})
    picture.frame = f"{video.name}#frame={number}"
    picture.split = video.split
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
        return [float(shape.attrib[name]) for name in names]

    degrees = float(shape.get("rotation", 0))
    match shape.tag:
        case "mask":
            return {"box": tuple(numbers("left", "top", "width", "height"))}
        case "ellipse":
            x, y, rx, ry = numbers("cx", "cy", "rx", "ry")
            return place_of_ellipse((x, y), (rx, ry), degrees)
        case "box":
            x, y, right, bottom = numbers("xtl", "ytl", "xbr", "ybr")
            box = (x, y, right - x, bottom - y)
            return turn_box(box, degrees, ((x + right) / 2, (y + bottom) / 2))
        case "polygon" | "polyline" | "points":
            pairs = (pair.split(",") for pair in shape.get("points", "").split(";"))
            points = [(float(x), float(y)) for x, y in pairs]
            return place_of(points, is_area=shape.tag == "polygon")
        case "cuboid":
            corners = list[Point]()
            for name in _CORNERS:
                x, y = numbers(f"x{name}", f"y{name}")
                corners.append((x, y))
            return place_of(corners, is_area=False)
        case "skeleton":
            return _place_of_joints(shape)
    return {}


def _place_of_joints(skeleton: Element) -> dict[str, Any]:
    """Box around the joints of a skeleton that are in the image."""
    joints = list[Point]()
    for joint in skeleton.iterfind("points"):
        if joint.get("outside") != "1":
            x, y = joint.get("points", "").split(",")
            joints.append((float(x), float(y)))
    return place_of(joints, is_area=False)


PLUGIN = format_of(
    "cvat",
    ToolReader(
        "CVAT 1.1 for images or video: an XML file, or a folder or archive with some",
        (b"<annotations",),
        _records,
        (".xml",),
    ),
)
