"""Pascal VOC: an XML file of boxes for each image, and lists of the images of each split."""

from dataclasses import replace
from functools import partial
from math import degrees
from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

from cobalance.base import Annotations, Box, Progress, decode_xml
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import format_of
from cobalance.ingest.trees import FileTree
from cobalance.vision import Point, place_of_parts, turn_box

_SIDES = ("xmin", "ymin", "xmax", "ymax")


class PascalVoc(ToolReader):
    """Reader of Pascal VOC; each object is a mention of its name, difficult ones included."""

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all XML files: one of another content is malformed."""
        reader = replace(self, marks=())
        return super(PascalVoc, reader).read_tree(tree, options, progress)


def _records(file: str, read: Read) -> Records:
    root = decode_xml(read(file))
    if root.tag != "annotation":
        raise ValueError(f"begins with <{root.tag[:60]}>, not <annotation>")
    yield "", partial(_picture, root, PurePosixPath(file).stem)


def _picture(root: Element, stem: str) -> Picture:
    """The image, which people often copy with another image's file name, or none."""
    filename = (root.findtext("filename") or "").strip().replace("\\", "/")
    name = PurePosixPath(filename).name or stem
    width = root.findtext("size/width") or root.findtext("imagesize/ncols")
    height = root.findtext("size/height") or root.findtext("imagesize/nrows")
    picture = Picture(name, width, height)
    if PurePosixPath(name).stem != stem:
        picture.full_name = f"{stem}{PurePosixPath(name).suffix}"

    for thing in root.iterfind("object"):
        # LabelMe's web tool keeps what was deleted, and has outlines in place of boxes.
        if (thing.findtext("deleted") or "").strip() != "1":
            name = (thing.findtext("name") or "").strip()
            picture.add(name, _place(thing), _answers(thing))
    return picture


def _answers(thing: Element) -> dict[str, Any]:
    """Attributes of an object in LabelMe's web tool: ``red, wheels=4``."""
    answers = dict[str, Any]()
    for part in (thing.findtext("attributes") or "").split(","):
        name, _, value = map(str.strip, part.partition("="))
        if name:
            answers[name] = value or True
    return answers


def _place(thing: Element) -> dict[str, Any]:
    """Box and outline of an object: upright, turned (roLabelImg), a mask's, or a polygon."""
    if (box := thing.find("bndbox")) is not None:
        # Roboflow's tools have the outline beside the box, counted as it is.
        return place_of_parts(_parts(thing, first=1), cuts_holes=False) | {"box": _box(box)}

    if (box := thing.find("robndbox")) is not None:
        x, y, w, h, angle = _numbers(box, "cx", "cy", "w", "h", "angle")
        return turn_box((x - w / 2, y - h / 2, w, h), degrees(angle), (x, y))

    if (box := thing.find("segm/box")) is not None:
        left, top, right, bottom = _numbers(box, *_SIDES)
        return {"box": (left, top, right - left, bottom - top)}

    return place_of_parts(_parts(thing, first=0), cuts_holes=False)


def _parts(thing: Element, first: int) -> list[list[Point]]:
    """Outlines of an object: points of LabelMe, or numbered corners; pixels count from `first`."""
    parts = list[list[Point]]()
    for polygon in thing.iterfind("polygon"):
        part = list[Point]()
        for point in polygon.iterfind("pt"):
            x, y = _numbers(point, "x", "y")
            part.append((x - first, y - first))

        number = 1
        while polygon.find(f"x{number}") is not None:
            x, y = _numbers(polygon, f"x{number}", f"y{number}")
            part.append((x - first, y - first))
            number += 1
        if part:
            parts.append(part)
    return parts


def _box(box: Element) -> Box:
    """An object's box; VOC counts pixels from 1, and its last pixel belongs to the box."""
    left, top, right, bottom = _numbers(box, *_SIDES)
    return left - 1, top - 1, right - left + 1, bottom - top + 1


def _numbers(element: Element, *names: str) -> list[float]:
    """Numbers of an element's children; one that is missing is an error of its record."""
    numbers = list[float]()
    for name in names:
        text = element.findtext(name)
        if not text:
            raise KeyError(name)
        numbers.append(float(text))
    return numbers


PLUGIN = format_of(
    "pascal-voc",
    PascalVoc(
        "Pascal VOC: a folder or archive with an XML file of boxes for each image",
        (b"<annotation",),
        _records,
        (".xml",),
    ),
)
