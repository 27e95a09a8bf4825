"""Readers of labelling tools' exports: one file, or one for each image, beside the images."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from cobalance.base import UNDECODABLE, Annotations, Progress, inflect, shorten_list, track
from cobalance.ingest.collector import SKIPPED, Collector
from cobalance.ingest.formats.answers import object_arguments
from cobalance.ingest.names import split_named, split_of_file, split_of_path, upwards
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.outline import outline_of, read_outline
from cobalance.ingest.pictures import (
    NamedPicture,
    PictureMatcher,
    picture_size,
    pictures_beside,
    pictures_elsewhere,
    unsized_note,
)
from cobalance.ingest.problems import Problems, describe_fault
from cobalance.ingest.reader import HEAD, TreeReader
from cobalance.ingest.trees import FileTree
from cobalance.vision import IMAGE_ENDINGS, VIDEO_ENDINGS

_VERSION = re.compile(r"((?:.*/)?)v(\d+\.\d+)/")  # of the annotations of a dataset
_LOOKED_AT = 20  # files of a folder, of which some may be about something else
FAULTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError,
           StopIteration, *UNDECODABLE)  # fmt: skip


@dataclass
class Picture:
    """An image with arguments of `Collector.image`, and of `Collector.mention` for its objects.

    `file` is the name of its picture, where that is not its own; `frame` is where it is in a
    video, for want of its picture. `full_name` is what it is called in the folder of its file
    where its name repeats, such as with the task or dataset that it is in. Where boxes are
    relative, `at_size` adds the objects once the picture has its size, or has none.
    """

    name: str
    width: float | str | None = None
    height: float | str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    split: str | None = None
    file: str | None = None
    frame: str = ""
    full_name: str = ""
    class_name: str | None = None
    at_size: "Callable[[Picture], None] | None" = None
    objects: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = str(self.name)

    def add(self, concept: object, place: Mapping[str, Any], attributes: Any = None) -> None:
        """Add an object with its box and outline."""
        arguments = {**object_arguments(attributes), **place}
        self.objects.append({"concept": str(concept), **arguments})


class _Unsized(NamedTuple):
    """A picture whose objects are added once its size is known; `row` and `place` are its own."""

    row: int
    place: str
    picture: Picture


Records = Iterator[tuple[str, Callable[[], Picture]]]
"""Places of images in a file, and what makes them of their records, or raises an error."""
Read = Callable[[str], bytes]
"""Reads a file of the folder or archive, by its path; one that is not there raises an error."""


@dataclass(frozen=True)
class ToolReader(TreeReader):
    """Reader of one tool's files.

    All have some `marks` in their first 64 KiB, which are regular expressions, and, if they are
    JSON, some `keys`, as `Outline.has` takes them. `records` takes a file's path, and what reads it
    and others.
    `splits` are those of images by a folder that their files are in, and these' names without
    endings.
    """

    description: str
    marks: tuple[bytes, ...]
    records: Callable[[str, Read], Records]
    endings: tuple[str, ...] = (".json", ".ndjson")
    splits: Mapping[tuple[str, str], str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has the name, all marks and all keys."""
        if not path.name.lower().endswith(self.endings) or not self._has_marks(head):
            return False
        return not self.keys or outline_of(path).has(*self.keys)

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether one of some files, from first to last, is the tool's, and not empty."""
        names = tree.below("", *self.endings)
        sampled = names[:: max(1, len(names) // _LOOKED_AT)]
        return any(self._is_sample(tree, name) for name in sampled)

    def _is_sample(self, tree: FileTree, name: str) -> bool:
        """Whether a file is the tool's and not empty; its outline is kept for other readers."""
        head = _head(tree, name)
        if not head.strip() or not self._has_marks(head):
            return False
        return not self.keys or tree.outline(name).has(*self.keys)

    def _has_marks(self, head: bytes) -> bool:
        return all(re.search(mark, head) for mark in self.marks)

    def _is_own(self, tree: FileTree, name: str) -> bool:
        """Whether a file of a folder or an archive is the tool's."""
        head = _head(tree, name)
        if not self._has_marks(head):
            return False
        # In a folder of the tool's files, words in a start tell enough; if they lack, keys decide.
        if all(_is_in(key, head) for key in self.keys):
            return True
        with tree.open(name) as file:
            return read_outline(file, *self.keys).has(*self.keys)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read a folder, an archive, or one file."""
        if not path.is_file() or not path.name.lower().endswith(self.endings):
            return super().read(path, options, progress)
        problems = Problems(str(path), options)
        collector = Collector(problems, options)
        unsized: list[_Unsized] = []

        def read_beside(name: str) -> bytes:
            return path.with_name(name).read_bytes()

        self._collect(path.name, read_beside, "", collector, problems, unsized)
        notes = _add_unsized(unsized, lambda _: None, collector, problems)
        return collector.annotations(progress, notes)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all files with the marks, and look for their images."""
        problems = Problems(str(tree.path), options)
        collector = Collector(problems, options)
        reader = replace(self, splits=_listed_splits(tree))
        pictures: list[NamedPicture] = []
        unsized: list[_Unsized] = []
        unread: list[str] = []
        names = tree.below("", *self.endings)
        latest = _latest_versions(names)

        for _, name in track(progress, "read", names):
            if name in latest and self._is_own(tree, name):
                pictures += reader._collect(
                    name, tree.read, f"{name}, ", collector, problems, unsized
                )
            else:
                unread.append(name)

        uris = _find_files(tree, pictures)
        collector.name_files(uris)
        files = set(tree.names)

        def size_of(row: int) -> tuple[int, int] | None:
            uri = uris[row]
            return picture_size(tree, uri) if uri in files else None

        alone, elsewhere = _pictures_alone(tree, names, pictures, uris)
        sizes_notes = _add_unsized(unsized, size_of, collector, problems)
        notes = [f"{tree.path}: {note}" for note in sizes_notes]
        if alone:
            number = inflect(len(alone), "pictures without annotations")
            # Where an image lacks its picture, it may be one of these under another name.
            n_missing = len(uris) - len({*uris}.intersection(tree.names))
            outcome = f"left out, beside {inflect(n_missing, 'images')} without pictures"
            if not n_missing:
                reader._add_alone(alone, pictures, collector)
                outcome = "counted as images of nothing"
            notes.append(f"{tree.path}: {number} {outcome}, such as {alone[0]}")
        if elsewhere:
            number = inflect(len(elsewhere), "pictures in folders without annotations")
            notes.append(f"{tree.path}: {number} left out, such as {elsewhere[0]}")
        if unread:
            notes.append(f"{tree.path}: not read: {shorten_list(unread)}")
        return collector.annotations(progress, notes)

    def _add_alone(
        self, paths: Sequence[str], pictures: Sequence[NamedPicture], collector: Collector
    ) -> None:
        """Add images of nothing, called as the others are: with or without endings."""
        have_endings = any(_stem(picture.name) != picture.name for picture in pictures)
        for path in paths:
            name = posixpath.basename(path) if have_endings else _stem(path)
            split = self._listed_split(path) or split_of_path(path)
            collector.image(name, path, full_id=path, uri=path, split=split)

    def _listed_split(self, file: str) -> str | None:
        """Split of an image by the lists of the nearest folder above its file that has some."""
        if not self.splits:
            return None
        folders = [*upwards(posixpath.dirname(file)), ""]
        listed = (self.splits.get((folder, _stem(file))) for folder in folders)
        return next(filter(None, listed), None)

    def _collect(
        self,
        file: str,
        read: Read,
        place: str,
        collector: Collector,
        problems: Problems,
        unsized: list[_Unsized],
    ) -> list[NamedPicture]:
        """Add the images of an annotation file, and return their pictures."""
        # A version of nuImages, such as v1.0-train, names the split.
        version = PurePosixPath(problems.file, file).parent.name.rpartition("-")[2]
        file_split = split_of_file(file) if place else split_named(_stem(file))
        file_split = file_split or split_named(version)

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
            except FAULTS as error:
                fault_place = f"{place}{record}".rstrip(", ") or file
                problems.record(fault_place, describe_fault(error)[:200], "Correct the record")
                continue

            name, record_place = picture.file or picture.name, f"{place}{record}".rstrip(", ")
            split = picture.split
            # A word in the name of one image's own file says nothing.
            if split is None:
                is_own = _stem(file) == _stem(name)
                split = self._listed_split(file) or (split_of_path(file) if is_own else file_split)

            row = collector.image(
                picture.name,
                record_place,
                full_id=_full_name(picture, file, split),
                uri=picture.frame or name,
                width=width,
                height=height,
                split=split,
                class_name=picture.class_name,
                metadata=picture.metadata,
            )
            if row != SKIPPED:
                full_name = picture.full_name if not picture.frame else ""
                pictures.append(NamedPicture(name, file, split, picture.frame, full_name))
            if picture.at_size is not None:
                unsized.append(_Unsized(row, record_place, picture))
            else:
                _mention_all(picture, row, record_place, collector)


def _mention_all(picture: Picture, row: int, place: str, collector: Collector) -> None:
    for number, thing in enumerate(picture.objects, start=1):
        collector.mention(row, place=f"{place}, object {number}", **thing)


def _add_unsized(
    unsized: Iterable[_Unsized],
    size_of: Callable[[int], tuple[int, int] | None],
    collector: Collector,
    problems: Problems,
) -> list[str]:
    """Add objects with relative boxes; returns a note if sizes are unknown."""
    n_without = 0
    for row, place, picture in unsized:
        size = size_of(row) if row != SKIPPED else None
        if size is not None:
            picture.width, picture.height = size
            collector.resize(row, *size)
        n_without += size is None
        if picture.at_size is None:
            continue
        try:
            picture.at_size(picture)
        except FAULTS as error:
            problems.record(place, describe_fault(error)[:200], "Correct the record")
        _mention_all(picture, row, place, collector)

    if not n_without:
        return []
    return [unsized_note(n_without)]


def _latest_versions(names: Iterable[str]) -> set[str]:
    """Names but for those in a folder such as ``v1.2`` beside ``v2.0``."""
    versions: dict[str, list[tuple[tuple[int, ...], str]]] = defaultdict(list)
    for name in names:
        match = _VERSION.match(name)
        before, version = (match[1], match[2]) if match else (name, "0")
        versions[before].append((tuple(map(int, version.split("."))), name))

    latest = set[str]()
    for numbered in versions.values():
        newest, _ = max(numbered)
        latest.update(name for version, name in numbered if version == newest)
    return latest


def _full_name(picture: Picture, file: str, split: str | None) -> str:
    """Name of an image with the folder of its annotation file; addresses have no folder."""
    name = picture.full_name or picture.name
    if "://" in name or name.startswith("/"):
        return name

    folder, own_folder = posixpath.dirname(file), posixpath.dirname(name)
    # A tool's folder may be that of its file.
    if own_folder and f"/{folder}".endswith(f"/{own_folder}"):
        name = posixpath.basename(name)
    # Files of several splits may lie in one folder.
    if split and split == split_of_file(file) != split_of_path(file) and not picture.full_name:
        folder = posixpath.join(folder, split)
    return posixpath.normpath(posixpath.join(folder, name))


def _stem(path: str) -> str:
    """Name of a file without folder and endings; ``1.jpg.json`` has two."""
    name, ending = posixpath.splitext(posixpath.basename(path))
    inner, inner_ending = posixpath.splitext(name)
    if inner_ending.lower() in IMAGE_ENDINGS and ending.lower() not in IMAGE_ENDINGS:
        return inner
    return name


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
    matches = zip(named, _match(matcher, pictures), matcher.match(videos), strict=True)

    uris = list[str | None]()
    for picture, path, video in matches:
        if path is None and picture.frame:
            number = picture.frame.rpartition("#")[2]
            path = f"{video}#{number}" if video else picture.frame
        uris.append(path or matcher.free(picture.name))
    return uris


def _match(matcher: PictureMatcher, pictures: Sequence[NamedPicture]) -> list[str | None]:
    """Path of each picture, by its full name if it has one and there is such a picture."""
    paths = matcher.match(pictures)
    with_full_names = [row for row, picture in enumerate(pictures) if picture.full_name]
    if not with_full_names:
        return paths

    full = [pictures[row]._replace(name=pictures[row].full_name) for row in with_full_names]
    n_claims = Counter(paths)
    for row, path in zip(with_full_names, matcher.match(full), strict=True):
        # A picture that several images are called as is none of theirs.
        if path is not None or n_claims[paths[row]] > 1:
            paths[row] = path
    return paths


def _pictures_alone(
    tree: FileTree, files: Sequence[str], pictures: Sequence[NamedPicture], uris: Sequence[Any]
) -> tuple[list[str], list[str]]:
    """Pictures without a file: beside pictures with one each, and in other folders.

    In the first, nothing is seen; at the second, nobody may have looked. Where one file names many
    images, such pictures are none of its images, and frames of a video that nobody looked at say
    nothing.
    """
    paths = tree.below("", *IMAGE_ENDINGS)
    known = set(paths)
    placed = list[str]()
    n_own = 0
    # The picture of an image may be there and not be sure, or its file may be malformed.
    stems = {_stem(name) for name in {*files} - {picture.file for picture in pictures}}
    for picture, uri in zip(pictures, uris, strict=True):
        if uri in known:
            placed.append(uri)
            n_own += _stem(picture.file) == _stem(uri)
        if uri not in known or picture.full_name:
            stems.add(_stem(picture.name))

    are_files_images = len({picture.file for picture in pictures}) == len(pictures)
    if not are_files_images or 2 * n_own <= len(placed) or any(row.frame for row in pictures):
        return [], []
    return pictures_beside(paths, placed, stems), pictures_elsewhere(paths, placed)


def _listed_splits(tree: FileTree) -> dict[tuple[str, str], str]:
    """Splits of images by their dataset's folder and their names without endings.

    They are of the lists in ``ImageSets``, as Pascal VOC has them: lists of all images come before
    those of a class, and of the task Main before others.
    """
    lists = [
        name
        for name in tree.below("", ".txt")
        if "imagesets" in posixpath.dirname(name).lower().split("/")
    ]
    lists.sort(key=lambda name: ("_" in posixpath.basename(name), "/main/" not in name.lower()))

    splits, of_words = dict[tuple[str, str], str](), dict[tuple[str, str], str]()
    for name in lists:
        split = split_named(_stem(name).rpartition("_")[2])
        if split is None:
            continue
        root = re.split("(?i)imagesets/", name)[0].rstrip("/")
        for line in tree.lines(name):
            splits.setdefault((root, _stem(line.strip())), split)
            # Names may have spaces, and lists of a class have a number behind.
            of_words.setdefault((root, _stem(" ".join(line.split()[:-1]))), split)
    return {**of_words, **splits}


def _is_in(key: str, head: bytes) -> bool:
    """Whether a file's start has the words of a key, or of one of several."""
    for choice in key.split("|"):
        words = choice.removeprefix("/").split(".")
        if all(f'"{word}"'.encode() in head for word in words):
            return True
    return False


def _head(tree: FileTree, name: str) -> bytes:
    with tree.open(name) as file:
        return file.read(HEAD)
