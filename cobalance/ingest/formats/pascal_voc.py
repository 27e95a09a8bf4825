"""Pascal VOC: an XML file of boxes for each image, and lists of the images of each split."""

from pathlib import PurePosixPath
from xml.etree import ElementTree

from cobalance.graph.errors import InputError
from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations, Box
from cobalance.ingest.collector import Collector
from cobalance.ingest.documents import decode_xml
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader
from cobalance.ingest.trees import FileTree

_SPLITS = ("train", "val", "test")


class PascalVoc(TreeReader):
    """Reader of Pascal VOC; each object is a mention of its name, difficult ones included."""

    description = "Pascal VOC: a folder or archive with an XML file of boxes for each image"

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether the first XML file is an annotation."""
        names = tree.below("", ".xml")
        return bool(names) and b"<annotation" in tree.read(names[0])

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the annotation files in the order of their names."""
        problems = Problems(str(tree.path), options)
        collector = Collector(problems, options)
        files = {PurePosixPath(name).name: name for name in tree.below("")}
        split_of = _splits(tree)
        names = tree.below("", ".xml")
        for number, name in enumerate(names):
            if number % 256 == 0:
                progress("read", number, len(names))
            try:
                _collect(_parse(tree, name), name, split_of, files, collector)
            except _XmlError as error:
                problems.record(name, str(error), "Write it as Pascal VOC has it")
        progress("read", len(names), len(names))
        return collector.annotations(progress)


class _XmlError(Exception):
    """A fault of one annotation file, as a clause."""


def _parse(tree: FileTree, name: str) -> ElementTree.Element:
    """The root of an annotation file."""
    try:
        root = decode_xml(tree.read(name))
    except InputError as error:
        raise _XmlError(str(error.reason)) from None
    except ValueError as error:
        raise _XmlError(str(error)) from None
    if root.tag != "annotation":
        raise _XmlError(f"begins with <{root.tag[:60]}>, not <annotation>")
    return root


def _collect(
    root: ElementTree.Element,
    name: str,
    split_of: dict[str, str],
    files: dict[str, str],
    collector: Collector,
) -> None:
    stem = PurePosixPath(name).stem
    file = (root.findtext("filename") or "").strip().rsplit("/", 1)[-1] or stem
    image = collector.image(
        file,
        name,
        uri=files.get(file, file),
        width=_whole(root.findtext("size/width")),
        height=_whole(root.findtext("size/height")),
        split=split_of.get(stem),
    )
    for number, found in enumerate(root.iterfind("object"), start=1):
        concept = found.findtext("name") or ""
        collector.mention(image, concept, f"{name}, object {number}", box=_box(found))


def _whole(text: str | None) -> int | None:
    """A size in pixels; 0 is how tools write that they do not know it."""
    try:
        return int(float(text or 0)) or None
    except (ValueError, OverflowError):
        raise _XmlError(f"the size {text!r} is not a number of pixels") from None


def _box(found: ElementTree.Element) -> Box | None:
    """An object's box; VOC counts pixels from 1, and its last pixel belongs to the box."""
    box = found.find("bndbox")
    if box is None:
        return None
    sides = [box.findtext(side) for side in ("xmin", "ymin", "xmax", "ymax")]
    try:
        left, top, right, bottom = (float(side or "") for side in sides)
    except ValueError:
        raise _XmlError(f"the box {sides} has a side that is no number") from None
    return left - 1, top - 1, right - left + 1, bottom - top + 1


def _splits(tree: FileTree) -> dict[str, str]:
    """Split of each annotation file by its stem, from ImageSets/Main."""
    split_of = {}
    for name in tree.below("", *(f"imagesets/main/{split}.txt" for split in _SPLITS)):
        for line in tree.lines(name):
            if line.strip():
                split_of[line.split(maxsplit=1)[0]] = PurePosixPath(name).stem
    return split_of
