"""Pascal VOC: an XML file of boxes for each image, and lists of the images of each split."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from cobalance.base import Annotations, Box, Progress, decode_xml
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import format_of
from cobalance.ingest.trees import FileTree

_SPLITS = ("train", "val", "test")


class PascalVoc(ToolReader):
    """Reader of Pascal VOC; each object is a mention of its name, difficult ones included."""

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the splits of ImageSets/Main, then the annotation files."""
        split_of = {}
        for name in tree.below("", *(f"imagesets/main/{split}.txt" for split in _SPLITS)):
            for line in tree.lines(name):
                if line.strip():
                    split_of[line.split(maxsplit=1)[0]] = PurePosixPath(name).stem

        reader = replace(self, marks=(), records=partial(_records, split_of))
        return super(PascalVoc, reader).read_tree(tree, options, progress)


def _records(split_of: Mapping[str, str], file: str, read: Read) -> Records:
    root = decode_xml(read(file))
    if root.tag != "annotation":
        raise ValueError(f"begins with <{root.tag[:60]}>, not <annotation>")
    stem = PurePosixPath(file).stem
    yield "", partial(_picture, root, stem, split_of.get(stem))


def _picture(root: Element, stem: str, split: str | None) -> Picture:
    name = (root.findtext("filename") or "").strip().rsplit("/", 1)[-1] or stem
    picture = Picture(name, root.findtext("size/width"), root.findtext("size/height"), split=split)
    for thing in root.iterfind("object"):
        picture.add(thing.findtext("name") or "", {"box": _box(thing)})
    return picture


def _box(thing: Element) -> Box | None:
    """An object's box; VOC counts pixels from 1, and its last pixel belongs to the box."""
    box = thing.find("bndbox")
    if box is None:
        return None
    sides = (float(box.findtext(side) or "") for side in ("xmin", "ymin", "xmax", "ymax"))
    left, top, right, bottom = sides
    return left - 1, top - 1, right - left + 1, bottom - top + 1


PASCAL_VOC = PascalVoc(
    "Pascal VOC: a folder or archive with an XML file of boxes for each image",
    (b"<annotation",),
    partial(_records, {}),
    (".xml",),
)


PLUGIN = format_of("pascal-voc", PASCAL_VOC)
