"""CVAT 1.1: an XML file of images, or of tracks through the frames of a video.

https://docs.cvat.ai/docs/other/xml_format
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations
from cobalance.ingest.collector import Collector
from cobalance.ingest.documents import decode_xml
from cobalance.ingest.formats.image_folder import IMAGE_ENDINGS
from cobalance.ingest.images.outlines import place_of, turned
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import HEAD, TreeReader
from cobalance.ingest.trees import FileTree

_FLAGS = {"true": True, "false": False}
_FIX = "Export it from CVAT anew"


class Cvat(TreeReader):
    """Reader of CVAT for images and for video; each shape, skeleton or tag is a mention.

    Attributes of shapes, with ``occluded``, are passed on, and so are a frame's ``video`` and an
    image's ``task``. A rotated box has its outline; a mask has its box alone, and cuboids and
    skeletons have none. All frames of a video are images, in which what is ``outside`` is not seen.
    """

    description = "CVAT 1.1 for images or video: an XML file, or a folder or archive with some"

    def detects(self, _path: Path, head: bytes) -> bool:
        """Whether the document begins as CVAT's."""
        return head.lstrip().startswith(b"<") and b"<annotations" in head

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether an XML file begins as CVAT's."""
        return any(True for _ in self._files(tree))

    def _files(self, tree: FileTree) -> Iterator[str]:
        for name in tree.below("", ".xml"):
            with tree.open(name) as file:
                if self.detects(tree.path, file.read(HEAD).removeprefix(b"\xef\xbb\xbf")):
                    yield name

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read a folder, an archive, or one file."""
        if path.suffix.lower() != ".xml":
            return super().read(path, options, progress)
        problems = Problems(str(path), options)
        collector, pictures = Collector(problems, options), dict[str, str]()
        notes = _collect(path.read_bytes(), "", pictures, collector, problems)
        return collector.annotations(progress, notes)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all files, and look for their images."""
        problems = Problems(str(tree.path), options)
        collector, notes = Collector(problems, options), list[str]()
        pictures = dict[str, str]()
        for path in tree.below("", *IMAGE_ENDINGS):
            names = (path, path.partition("images/")[2], PurePosixPath(path).stem)
            pictures |= dict.fromkeys(names, path)
        for name in self._files(tree):
            notes += _collect(tree.read(name), f"{name}, ", pictures, collector, problems)
        return collector.annotations(progress, notes)


def _collect(
    content: bytes, place: str, pictures: dict[str, str], collector: Collector, problems: Problems
) -> list[str]:
    """Add the images and shapes of a file; gives a note where it is of a video."""
    try:
        root = decode_xml(content)
    except ValueError as error:
        raise problems.fatal(str(error), f"{_FIX}.", place.rstrip(", ") or None) from None
    for number, image in enumerate(root.iterfind("image"), start=1):
        here, name = f"{place}image {number}", image.get("name", "")
        task = image.get("task_id")
        row = collector.image(
            name,
            here,
            uri=pictures.get(name, name),
            width=_whole(image.get("width")),
            height=_whole(image.get("height")),
            split=(image.get("subset") or "").lower() or None,
            metadata={"task": task} if task else None,
        )
        for at, shape in enumerate(image, start=1):
            _mention(shape, shape.get("label", ""), row, f"{here}, {shape.tag} {at}", collector)
    tracks = root.findall("track")
    if not tracks:
        return []
    video = root.findtext("meta/*/source") or root.findtext("meta/*/name") or "video"
    frames = [_whole(shape.get("frame")) or 0 for track in tracks for shape in track]
    n_frames = max([*frames, (_whole(root.findtext("meta/*/size")) or 0) - 1], default=0) + 1
    problems.within("rows", n_frames)
    rows = [
        collector.image(
            f"{video}#frame={frame}",
            f"{place}frame {frame}",
            uri=pictures.get(f"frame_{frame:06}"),
            metadata={"video": video},
            width=_whole(root.findtext("meta/*/original_size/width")),
            height=_whole(root.findtext("meta/*/original_size/height")),
        )
        for frame in range(n_frames)
    ]
    for track in tracks:
        for shape in track:
            frame = _whole(shape.get("frame")) or 0
            here = f"{place}track {track.get('id')}, frame {frame}"
            if shape.get("outside") != "1":
                _mention(shape, track.get("label", ""), rows[frame], here, collector)
    known = f"frame_{0:06}" in pictures
    read = "" if known else "; pictures are not read from videos: save its frames as images"
    return [f"{problems.file}: {place}{n_frames:,} frames of {video}{read}"]


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 10 else None


def _mention(shape: Element, label: str, row: int, place: str, collector: Collector) -> None:
    told = {it.get("name", ""): it.text or "" for it in shape.iterfind("attribute")}
    attributes: dict[str, Any] = {name: _FLAGS.get(it, it) for name, it in told.items()}
    if "occluded" in shape.attrib:
        attributes["occluded"] = shape.get("occluded") == "1"
    try:
        found = _place(shape)
    except ValueError:
        found = {"box": (float("nan"),) * 4}  # reported with its place
    collector.mention(row, label, place, attributes=attributes, **found)


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
            return turned((x - rx, y - ry, 2 * rx, 2 * ry), degrees, (x, y))
        case "box":
            x, y, right, bottom = numbers("xtl", "ytl", "xbr", "ybr")
            box = (x, y, right - x, bottom - y)
            return turned(box, degrees, ((x + right) / 2, (y + bottom) / 2))
        case "polygon" | "polyline" | "points":
            pairs = (pair.split(",") for pair in shape.get("points", "").split(";"))
            points = [(float(x), float(y)) for x, y in pairs]
            return place_of(points, is_area=shape.tag == "polygon")
    return {}
