"""Darwin JSON of V7: an item a file, with its slots and annotations.

https://docs.v7labs.com/reference/darwin-json
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import degrees
from typing import Any

from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import box_place, json_reader, points_of
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.formats.video_tracks import Track, video_frames
from cobalance.ingest.reader import format_of
from cobalance.vision import Point, place_of, place_of_ellipse, place_of_parts

_RASTER_LAYER = "__raster_layer__"  # the container of all masks of a slot
_FRAME = "{:07}.png"  # as darwin-py calls the frames that it downloads


def _darwin(record: Any, _beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """Images of an item, with its folder: items of several folders may have one name."""
    folder = (record["item"].get("path") or "").strip("/")
    for picture in _pictures(record):
        if folder:
            picture.full_name = posixpath.join(folder, picture.name)
        yield picture


def _pictures(record: Any) -> Iterator[Picture]:
    """An image for each slot of the item, and for each frame of its videos."""
    item = record["item"]
    slots = item.get("slots") or [{}]
    metadata = _properties(record)
    names = [_slot_name(item["name"], slot) for slot in slots]
    # Of one slot the item's name is the picture's; files of several may be called alike.
    if len(slots) == 1:
        names = [item["name"]]
    elif len({*names}) < len(names):
        names = [f"{item['name']}/{slot['slot_name']}" for slot in slots]

    for number, slot in enumerate(slots):
        # What names no slot is of the first.
        own_annotations = [
            annotation
            for annotation in record["annotations"]
            if _slot_number(annotation, slots) == number and not _is_raster_layer(annotation)
        ]
        name = names[number]
        size = slot.get("width"), slot.get("height")
        if _is_video(slot, own_annotations):
            yield from _frames(name, slot, own_annotations, metadata)
        else:
            picture = Picture(name, *size, metadata=metadata)
            for annotation in own_annotations:
                picture.add(annotation["name"].strip(), _place(annotation), _answers(annotation))
            yield picture


def _slot_number(annotation: Any, slots: Sequence[Any]) -> int:
    names = [slot.get("slot_name") for slot in slots]
    own_names = annotation.get("slot_names") or names[:1]
    return names.index(own_names[0]) if own_names[0] in names else 0


def _slot_name(item: str, slot: Any) -> str:
    """Name of one of several pictures of an item: that of its file."""
    files = slot.get("source_files") or ()
    names = [file.get("file_name") if isinstance(file, dict) else file for file in files]
    return next(filter(None, names), f"{item}/{slot.get('slot_name')}")


def _is_raster_layer(annotation: Any) -> bool:
    return "raster_layer" in annotation or annotation["name"] == _RASTER_LAYER


def _is_video(slot: Any, annotations: Sequence[Any]) -> bool:
    is_video = slot.get("type") == "video" or bool(slot.get("frame_urls"))
    return is_video or any("frames" in annotation for annotation in annotations)


def _properties(record: Any) -> dict[str, Any]:
    """Answers to the questions about an item, or about an object."""
    properties = record.get("properties") or ()
    return gather((answer["name"], answer.get("value")) for answer in properties)


def _answers(annotation: Any) -> dict[str, Any]:
    """Attributes, which are ticked or not, properties and text of an object."""
    answers: dict[str, Any] = dict.fromkeys(annotation.get("attributes") or (), True)
    if text := annotation.get("text"):
        answers["text"] = text.get("text")
    return {**answers, **_properties(annotation)}


def _place(annotation: Any) -> dict[str, Any]:
    """Box of an object, and its outlines; none of tags and masks."""
    if polygon := annotation.get("polygon"):
        paths = polygon.get("paths") or [polygon["path"]]
        # Of one path, early files have the points themselves.
        if paths and isinstance(paths[0], dict):
            paths = [paths]
        # A path within another cuts a hole, as darwin-py paints them.
        return place_of_parts(list(map(points_of, paths)), cuts_holes=True)

    if ellipse := annotation.get("ellipse"):
        center, radius = ellipse["center"], ellipse["radius"]
        return place_of_ellipse(
            (center["x"], center["y"]), (radius["x"], radius["y"]), degrees(ellipse["angle"])
        )

    table = annotation.get("table") or annotation.get("simple_table") or {}
    if box := annotation.get("bounding_box") or table.get("bounding_box"):
        return box_place(box["x"], box["y"], box["w"], box["h"])

    return place_of(list(_spots(annotation)), is_area=False)


def _spots(annotation: Any) -> Iterable[Point]:
    """Points of an object that has no area: lines, key points, skeletons, cuboids."""
    if line := annotation.get("line"):
        paths = line.get("paths") or [line["path"]]
        return chain.from_iterable(map(points_of, paths))

    if spot := annotation.get("keypoint"):
        return points_of([spot])
    if cuboid := annotation.get("cuboid"):
        sides = cuboid["front"], cuboid["back"]
        opposite = [(side["x"] + side["w"], side["y"] + side["h"]) for side in sides]
        return points_of(sides) + opposite

    for kind in ("skeleton", "eye", "graph"):
        if kind in annotation:
            return points_of(annotation[kind]["nodes"])

    return ()


def _frames(
    video: str, slot: Any, annotations: Sequence[Any], metadata: Mapping[str, Any]
) -> Iterator[Picture]:
    """Frames of a video, in the ranges of whose objects each is seen."""
    tracks = list(map(_track, annotations))
    ends = (last for track in tracks for _, last in track.spans)
    n_frames = int(slot.get("frame_count") or 0) or max(ends, default=0)

    # Tags of the whole video are seen in all of it.
    for track in tracks:
        track.spans = track.spans or [(0, n_frames)]

    size = slot.get("width"), slot.get("height")
    return video_frames(video, n_frames, size, tracks, metadata, _FRAME)


def _track(annotation: Any) -> Track:
    """An object through the frames; a range ends before its second number."""
    keys = {**annotation.get("frames", {}), **annotation.get("sections", {})}
    places = {int(frame): _place(key) for frame, key in keys.items()}
    common = _answers(annotation)
    attributes, latest = dict[int, Mapping[str, Any]](), dict[str, Any]()

    for frame in sorted(places):
        # Sub-annotations hold until a key frame has others.
        latest = _answers(keys[str(frame)]) or latest
        attributes[frame] = common | latest

    spans = [(int(span[0]), int(span[1])) for span in _ranges(annotation)]
    moves = bool(annotation.get("interpolated"))
    if not places:
        places, attributes = {0: _place(annotation)}, {0: common}

    return Track(annotation["name"].strip(), places, spans, attributes, moves)


def _ranges(annotation: Any) -> Sequence[Any]:
    return annotation.get("ranges") or annotation.get("segments") or ()


PLUGIN = format_of(
    "darwin", json_reader("Darwin JSON of V7", _darwin, "/item.name", "slots", "annotations")
)
