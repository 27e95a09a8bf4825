"""Readers of labelling tools' exports: one file, or one for each image, beside the images."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from cobalance.base import UNDECODABLE, Annotations, Progress, track
from cobalance.ingest.collector import SKIPPED, Collector
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import NamedPicture, PictureMatcher
from cobalance.ingest.problems import Problems, describe_fault
from cobalance.ingest.reader import HEAD, TreeReader
from cobalance.ingest.trees import FileTree
from cobalance.vision.images import IMAGE_ENDINGS, VIDEO_ENDINGS

_SPLITS = {"train": "train", "val": "val", "validation": "val", "test": "test"}
_LOOKED_AT = 20  # files of a folder, of which some may be about something else
_FAULTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError,
           *UNDECODABLE)  # fmt: skip


@dataclass
class Picture:
    """An image with arguments of `Collector.image`, and of `Collector.mention` for its objects.

    `file` is the name of its picture, where that is not its own; `frame` is where it is in a
    video, for want of its picture.
    """

    name: str
    width: float | str | None = None
    height: float | str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    split: str | None = None
    file: str | None = None
    frame: str = ""
    objects: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = str(self.name)

    def add(self, concept: object, place: Mapping[str, Any], attributes: Any = None) -> None:
        """Add an object with its box and outline."""
        self.objects.append({"concept": str(concept), **place, "attributes": attributes})


Records = Iterator[tuple[str, Callable[[], Picture]]]
"""Places of images in a file, and what makes them of their records, or raises an error."""
Read = Callable[[str], bytes]
"""Reads a file of the folder or archive, by its path; one that is not there raises an error."""


@dataclass(frozen=True)
class ToolReader(TreeReader):
    """Reader of one tool's files, which all have some `marks` in their first 64 KiB.

    `marks` are regular expressions; `records` takes a file's path, and what reads it and others.
    """

    description: str
    marks: tuple[bytes, ...]
    records: Callable[[str, Read], Records]
    endings: tuple[str, ...] = (".json", ".ndjson")

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has the name and all marks."""
        is_named = path.name.lower().endswith(self.endings)
        return is_named and all(re.search(mark, head) for mark in self.marks)

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether one of some files, from first to last, has all marks, and is not empty."""
        names = tree.below("", *self.endings)
        sampled = names[:: max(1, len(names) // _LOOKED_AT)]
        heads = ((Path(name), _head(tree, name)) for name in sampled)
        return any(head.strip() and self.detects(path, head) for path, head in heads)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read a folder, an archive, or one file."""
        if not path.is_file() or not path.name.lower().endswith(self.endings):
            return super().read(path, options, progress)
        problems = Problems(str(path), options)
        collector = Collector(problems, options)
        self._collect(
            path.name, lambda name: path.with_name(name).read_bytes(), "", collector, problems
        )
        return collector.annotations(progress)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all files with the marks, and look for their images."""
        problems = Problems(str(tree.path), options)
        collector = Collector(problems, options)
        pictures: list[NamedPicture] = []
        names = tree.below("", *self.endings)

        for _, name in track(progress, "read", names):
            if self.detects(Path(name), _head(tree, name)):
                pictures += self._collect(name, tree.read, f"{name}, ", collector, problems)

        collector.name_files(_find_files(tree, pictures))
        return collector.annotations(progress)

    def _collect(
        self, file: str, read: Read, place: str, collector: Collector, problems: Problems
    ) -> list[NamedPicture]:
        """Add the images of an annotation file, and return their pictures."""
        path = PurePosixPath(file)
        # A version of nuImages, such as v1.0-train, names the split.
        version = PurePosixPath(problems.file, file).parent.name.rpartition("-")[2]
        words = (*path.parts, path.stem, version)
        file_split = next(filter(None, map(_SPLITS.get, words)), None)

        records = self.records(file, read)
        pictures: list[NamedPicture] = []
        while True:
            record = ""
            try:
                record, make = next(records, ("", None))
                if make is None:
                    return pictures
                picture = make()
                width, height = _size_px(picture.width), _size_px(picture.height)
            except _FAULTS as error:
                reason = f"has a value that is missing or wrong ({describe_fault(error)})"[:200]
                problems.record(f"{place}{record}".rstrip(", ") or file, reason, "Export it anew")
                continue

            name, record_place = picture.file or picture.name, f"{place}{record}".rstrip(", ")
            split = picture.split or file_split
            row = collector.image(
                picture.name,
                record_place,
                uri=picture.frame or name,
                width=width,
                height=height,
                split=split,
                metadata=picture.metadata,
            )
            if row != SKIPPED:
                pictures.append(NamedPicture(name, file, split, picture.frame))
            for number, thing in enumerate(picture.objects, start=1):
                collector.mention(row, place=f"{record_place}, object {number}", **thing)


def _size_px(side: float | str | None) -> int | None:
    """Width or height of an image as a whole number; None where the tool says none, or 0."""
    return int(float(side or 0)) or None


def _find_files(tree: FileTree, named: Sequence[NamedPicture]) -> list[str | None]:
    """Address of each image: its picture in the tree, its frame of a video, or its name."""
    paths = tree.below("", *IMAGE_ENDINGS, *VIDEO_ENDINGS)
    matcher = PictureMatcher(paths, str(tree.path.resolve()))
    videos = [picture._replace(name=picture.frame.partition("#")[0]) for picture in named]
    has_several_videos = len({video.name for video in videos} - {""}) > 1
    pictures = list[NamedPicture]()
    for picture in named:
        # Frames of one video may lie anywhere, called by their numbers.
        if picture.frame and not has_several_videos:
            picture = picture._replace(name=posixpath.basename(picture.name))
        pictures.append(picture)
    matches = zip(named, matcher.match(pictures), matcher.match(videos), strict=True)

    uris = list[str | None]()
    for picture, path, video in matches:
        if path is None and picture.frame:
            number = picture.frame.rpartition("#")[2]
            path = f"{video}#{number}" if video else picture.frame
        uris.append(path or matcher.free(picture.name))
    return uris


def _head(tree: FileTree, name: str) -> bytes:
    with tree.open(name) as file:
        return file.read(HEAD)
