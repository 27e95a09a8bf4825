"""JSON that libraries for training read: OpenMMLab 2 and FiftyOne's datasets of labels."""

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec

from cobalance.ingest.formats.json_records import (
    Source,
    box_place,
    corners_place,
    decode_file,
    json_reader,
    pairs_in_turn,
)
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of, place_of_parts

_CLASSES = ("classes", "CLASSES", "categories", "category")


def _openmmlab(record: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    """An image of OpenMMLab's data list, without the objects that are to be ignored."""
    metainfo = beside.get("metainfo") or {}
    names = next((metainfo[key] for key in _CLASSES if metainfo.get(key)), ())
    picture = Picture(record.get("img_path") or record["file_name"])
    picture.width, picture.height = record.get("width"), record.get("height")

    # One label is the image's class, as of mmpretrain; several are what it shows.
    labels = record.get("gt_label", record.get("img_label"))
    if isinstance(labels, list):
        for label in labels:
            picture.add(_name(names, label), {})
    elif labels is not None:
        picture.class_name = _name(names, labels)

    for instance in record.get("instances") or ():
        if not instance.get("ignore_flag"):
            picture.add(_name(names, instance["bbox_label"]), _place(instance))

    return picture


def _name(names: Sequence[Any], label: Any) -> str:
    """Name of a label, which is its position in a list of names, or the id of an object of it."""
    if isinstance(label, str):
        return label
    if names and isinstance(names[0], dict):
        return str(dict(map(itemgetter("id", "name"), names))[label])

    if not 0 <= label < len(names):
        raise ValueError(f"the classes name no label {label}")
    return str(names[label])


def _place(instance: Any) -> dict[str, Any]:
    """Box and outlines of an instance; its mask may be run lengths, which are left out."""
    place: dict[str, Any] = {}
    outlines = instance.get("mask") or ()
    if isinstance(outlines, list) and outlines:
        place = place_of_parts(list(map(pairs_in_turn, outlines)), cuts_holes=False)
    elif polygon := instance.get("polygon"):
        place = place_of(pairs_in_turn(polygon))

    if box := instance.get("bbox"):
        place |= corners_place(*box)
    return place


def _fiftyone_records(file: str, read: Read) -> Records:
    """Images of FiftyOne's labels, by the names of their pictures without endings."""
    records, beside = decode_file(Source("labels", beside=("classes",)), read(file))
    for name, record in records.items():
        yield f"labels, {name}", partial(_fiftyone, name, record, beside.get("classes") or ())


def _fiftyone(name: str, record: msgspec.Raw, classes: Sequence[str]) -> Picture:
    """An image with its class, or with objects whose boxes are relative."""
    picture = Picture(name)
    labels = msgspec.json.decode(record)
    if labels is None:
        return picture
    if not isinstance(labels, list):
        label = labels["label"] if isinstance(labels, dict) else labels
        picture.class_name = _name(classes, label)
        return picture

    things = [thing if isinstance(thing, dict) else {"label": thing} for thing in labels]
    # Labels are checked now, when a malformed record is an error of its own.
    named = [(_name(classes, thing["label"]), thing) for thing in things]
    add = partial(_add_relative, named)
    if any("bounding_box" in thing for thing in things):
        picture.at_size = add
    else:
        add(picture)
    return picture


def _add_relative(named: Sequence[tuple[str, Any]], picture: Picture) -> None:
    """Add objects to a picture, whose size may be unknown."""
    for name, thing in named:
        place: dict[str, Any] = {}
        box = thing.get("bounding_box")
        if box and picture.width and picture.height:
            x, y, w, h = box
            across, down = float(picture.width), float(picture.height)
            place = box_place(x * across, y * down, w * across, h * down)

        attributes = dict(thing.get("attributes") or {})
        if thing.get("confidence") is not None:
            attributes["score"] = thing["confidence"]
        picture.add(name, place, attributes)


PLUGINS = formats_of(
    {
        "openmmlab": json_reader(
            "OpenMMLab 2 JSON",
            _openmmlab,
            "/metainfo",
            "/data_list",
            key="data_list",
            beside=("metainfo",),
        ),
        "fiftyone-labels": ToolReader(
            "FiftyOne's labels of classified or detected images",
            (rb'^\s*\{\s*"classes"\s*:',),
            _fiftyone_records,
            (".json",),
            keys=("/classes", "/labels"),
        ),
    }
)
