"""Supervisely's JSON: a file for each image, or for each video with its frames.

https://docs.supervisely.com/data-organization/00_ann_format_navi
"""

import base64
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import degrees
from operator import itemgetter
from struct import unpack_from
from typing import Any

from cobalance.base import Box
from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import box_place, corners_place, json_reader, pairs
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.formats.video_tracks import Track, video_frames
from cobalance.ingest.reader import format_of
from cobalance.vision import place_of, place_of_parts, turn_box

_PNG_HEAD = 24  # bytes until after its width and height
_BITMAPS = ("bitmap", "alpha_mask")


def _supervisely(record: Any, _beside: Mapping[str, Any], file: str) -> Picture | Iterator[Picture]:
    """The image of a file, or the frames of its video."""
    size = record["size"]["width"], record["size"]["height"]
    if "frames" in record:
        return _frames(record, file, size)

    picture = Picture(file, *size, metadata=_tags(record))
    for figure in record["objects"]:
        place = _place(figure, figure.get("geometryType"))
        picture.add(figure["classTitle"], place, _tags(figure))

    return picture


def _tags(record: Any, frame: int | None = None) -> dict[str, Any]:
    """Tags of an image or an object, of which one may be there several times.

    Those of a range of frames are left out, but for the ranges that `frame` is in.
    """
    tags = []
    for tag in record.get("tags") or ():
        if frames := tag.get("frameRange"):
            first, last = frames
            if frame is None or not first <= frame <= last:
                continue
        value = tag.get("value")
        tags.append((tag["name"], True if value is None else value))

    return gather(tags)


def _place(figure: Any, kind: str | None) -> dict[str, Any]:
    """Box and outlines of a figure in the plane."""
    if bitmap := figure.get("bitmap"):
        return {"box": _bitmap_box(bitmap)} if kind in _BITMAPS else {}
    if nodes := figure.get("nodes"):
        return place_of(pairs(list(map(itemgetter("loc"), nodes.values()))), is_area=False)

    points = figure.get("points") or {}
    if isinstance(points, list):
        return place_of(pairs(points), is_area=False)

    corners = pairs(points.get("exterior", ()))
    if kind == "polygon" and len(corners) > 2:
        holes = list(map(pairs, points.get("interior") or ()))
        return place_of_parts([corners, *holes], cuts_holes=True)

    if kind == "oriented_bbox":
        (left, top), (right, bottom) = corners
        center = (left + right) / 2, (top + bottom) / 2
        angle = degrees(figure.get("angle") or 0)
        return turn_box(corners_place(left, top, right, bottom)["box"], angle, center)

    return place_of(corners, is_area=False)


def _bitmap_box(bitmap: Any) -> Box:
    """Box of a mask: where its picture, a packed PNG, lies, and the size in its first bytes."""
    left, top = bitmap["origin"]
    packed = base64.b64decode(bitmap["data"])
    head = zlib.decompressobj().decompress(packed, _PNG_HEAD)
    width, height = unpack_from(">II", head, _PNG_HEAD - 8)
    return box_place(left, top, width, height)["box"]


def _frames(record: Any, video: str, size: tuple[Any, Any]) -> Iterator[Picture]:
    """Frames of a video, each of which has the figures of its objects."""
    objects = dict(zip(map(_key, record["objects"]), record["objects"], strict=True))
    places: dict[Any, dict[int, Mapping[str, Any]]] = defaultdict(dict)

    for frame in record["frames"]:
        for figure in frame["figures"]:
            place = _place(figure["geometry"], figure.get("geometryType"))
            owner = figure.get("objectKey") or figure.get("objectId")
            places[owner][int(frame["index"])] = place

    tracks = []
    for key, thing in objects.items():
        own_places = places.get(key, {})
        spans = [(frame, frame + 1) for frame in own_places]
        attributes = {frame: _tags(thing, frame) for frame in own_places}
        tracks.append(Track(thing["classTitle"], own_places, spans, attributes))

    n_frames = int(record.get("framesCount") or 0)
    n_frames = max([n_frames, *(last for track in tracks for _, last in track.spans)])

    frames = video_frames(video, n_frames, size, tracks)
    for number, picture in enumerate(frames):
        picture.metadata |= _tags(record, number)
        yield picture


def _key(thing: Any) -> Any:
    return thing.get("key") or thing.get("id")


PLUGIN = format_of(
    "supervisely",
    json_reader("Supervisely", _supervisely, "description", "tags", "size", "objects"),
)
