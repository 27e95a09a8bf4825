"""YOLO: a text file of boxes or outlines for each image, and data.yaml with the categories."""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from pathlib import PurePosixPath
from typing import Any

from cobalance.base import (
    MOST_YAML,
    Annotations,
    InputError,
    Progress,
    clean_name,
    decode_yaml,
    inflect,
    track,
)
from cobalance.ingest.collector import Collector
from cobalance.ingest.names import number_items, split_named, split_of_path, upwards, without
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import picture_size, unsized_note
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.trees import FileTree
from cobalance.vision import IMAGE_ENDINGS

_SPLITS = ("train", "val", "test")
_LOOKED_AT = 100  # images, for labels
_FOLDER_OF_IMAGES = re.compile(r"(?i)(?:(?<=/)|^)(?:jpeg)?images(?=/)(?!.*/(?:jpeg)?images/)")
_FOLDER_OF_LABELS = re.compile(r"(?:(?<=/)|^)(?:labels|obj_\w+_data)(?=/)(?!.*/labels/)")
_LABELS = re.compile(r"(?:(?<=/)|^)labels(?=/)(?!.*/labels/)")
_LABEL_FOLDERS = ("labels", "Labels", "annotations", "Annotations")
_LINE = re.compile(r"\d+(?:\s+(?:0?\.\d+|[01](?:\.\d*)?)(?:[eE]-\d+)?){4,}\s*")
_OTHERS = (".xml", ".json", ".jsonl", ".csv", ".tsv", ".parquet")  # what may name the same pictures
_NOTHING = {"", "~", "null", "none"}  # as YAML says that there is no such split
_LEAST, _MOST = -0.01, 1.01  # rounding leads a little out of the image


@dataclass(frozen=True)
class _Description:
    """Content of ``data.yaml``: category names, their number, images by split, points of a pose.

    Without any `names`, categories are called by their numbers.
    """

    file: str
    names: Mapping[int, str]
    images: Mapping[str, Sequence[str]]
    root: str
    has_pose: bool
    n_names: str


class _Places:
    """Paths that ``data.yaml`` and its lists name, in a folder or archive.

    Some tools begin them with ``./`` or ``../``, others with folders of their own machine.
    """

    def __init__(self, tree: FileTree, root: str) -> None:
        self.tree, self.root = tree, root
        self.files = set(tree.names)
        self.folders = {""}
        for folder in {posixpath.dirname(name) for name in tree.names} - {""}:
            self.folders.update(upwards(folder))

    def whole(self, path: str) -> str:
        """A path within the root, as it is written."""
        return self._join(self._parts(path))

    def locate(self, path: str) -> str | None:
        """A folder or file that is there, without folders before it if need be; or None.

        A folder that is called as a split is never left out.
        """
        parts = self._parts(path)
        for start in range(len(parts) + 1):
            place = self._join(parts[start:])
            if (start == 0 or start < len(parts)) and self._is_there(place):
                return place
            if start < len(parts) and split_named(parts[start]):
                return None
        return None

    def same_split(self, path: str) -> str | None:
        """The one folder of images by another name of its split, such as val for valid."""
        kind = self._kind(self._parts(path)[-2:])
        alike = [
            folder
            for folder in self.folders
            if self._kind(folder.split("/")[-len(kind) :]) == kind
            and self.tree.below(folder, *IMAGE_ENDINGS)
        ]
        return alike[0] if len(alike) == 1 else None

    def label(self, image: str) -> str | None:
        """Path of the label of an image, which an image of nothing lacks."""
        return next(filter(self.files.__contains__, _labels_of(image)), None)

    def _is_there(self, place: str) -> bool:
        if place in self.files or place in self.folders or self.label(place) is not None:
            return True
        return _labels_folder(place) in self.folders

    def _join(self, parts: Sequence[str]) -> str:
        joined = posixpath.normpath(posixpath.join(self.root, *parts))
        if joined == ".":
            return ""
        return joined

    @staticmethod
    def _parts(path: str) -> list[str]:
        return without(PurePosixPath(path.replace("\\", "/")).parts, ("..", "/"))

    @staticmethod
    def _kind(parts: Sequence[str]) -> list[str]:
        return [split_named(part) or part.lower() for part in parts]


class Yolo(TreeReader):
    """Reader of YOLO folders; boxes and outlines are relative, and images say how large they are.

    The boxes of images that are not there, or whose size cannot be read, are left out, their
    mentions are not. An image of several splits is of the first of train, val and test.
    """

    description = "YOLO: a folder or archive with data.yaml and a text file of boxes for each image"

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether a file names categories or images of splits, or pictures have bare labels."""
        return any(map(_is_begun, _documents(tree))) or _is_unnamed(tree)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the images of each split, and their labels."""
        problems = Problems(str(tree.path), options)
        description = _read_description(tree, problems)
        places = _Places(tree, description.root)
        notes = list[str]()
        images: dict[str, str | None] = {}
        n_shared: Counter[tuple[str | None, str | None]] = Counter()
        for listed_split, name in dict.fromkeys(_images(places, description, problems, notes)):
            split = listed_split or split_of_path(name)
            first = images.setdefault(name, split)
            if split != first:
                n_shared[split, first] += 1

        collector = Collector(problems, options)
        labels = set[str]()
        n_without_size = 0
        for _, (name, split) in track(progress, "read", list(images.items()), 256):
            size = picture_size(tree, name) if name in places.files else None
            width, height = size or (None, None)
            id_ = posixpath.relpath(name, description.root or ".")
            image = collector.image(id_, name, uri=name, width=width, height=height, split=split)
            label = places.label(name)
            if label is not None:
                labels.add(label)
                n_without_size += size is None
                for place, mention in _mentions(tree, label, description, size, problems):
                    collector.mention(image, place=place, **mention)

        for (split, first), n in n_shared.items():
            notes.append(f"{first} and {split} share {inflect(n, 'images')}, counted as {first}")
        if n_without_size:
            notes.append(unsized_note(n_without_size))
        if places.files.isdisjoint(images):
            notes.append("no picture is here: put them into images/, beside labels/")
        notes += _left_out(places, images, labels)
        n_names = len(description.names)
        if not n_names:
            notes.append("no file names the categories: put classes.txt, a name a line, beside")
        elif description.n_names != str(n_names):
            notes.append(f"{description.file} has {n_names} names, and nc is {description.n_names}")
        return collector.annotations(progress, [f"{tree.path}: {note}" for note in notes])


def _left_out(places: _Places, images: Collection[str], labels: Collection[str]) -> list[str]:
    """Notes of labels without pictures, and of pictures with labels, that no split has."""
    unlisted = [
        image
        for image in places.tree.below("", *IMAGE_ENDINGS)
        if image not in images and places.label(image) is not None
    ]
    notes = list[str]()
    if unlisted:
        number = inflect(len(unlisted), "pictures with labels")
        notes.append(f"{number} left out, as no split has them, such as {unlisted[0]}")

    with_pictures = {*labels, *filter(None, map(places.label, unlisted))}
    alone = [
        name
        for name in places.tree.below("", ".txt")
        if _FOLDER_OF_LABELS.search(name)
        and name not in with_pictures
        and posixpath.basename(name) not in ("classes.txt", "README.txt")
    ]
    if alone:
        number = inflect(len(alone), "files of labels")
        notes.append(f"{number} left out, as they have no picture, such as {alone[0]}")
    return notes


def _mentions(
    tree: FileTree,
    label: str,
    description: _Description,
    size: tuple[int, int] | None,
    problems: Problems,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the mention of each line of a label; malformed ones are reported."""
    seen = set[str]()
    for number, row in enumerate(tree.lines(label), start=1):
        # Some tools write a box twice.
        if row.strip() in seen:
            continue
        seen.add(row.strip())

        place = f"{label}, line {number}"
        try:
            mention = _parse_line(row, description, size)
        except ValueError as error:
            problems.record(place, str(error), "Write: category x y width height")
        else:
            if mention is not None:
                yield place, mention


def _documents(tree: FileTree) -> Iterator[tuple[str, Any]]:
    """YAML files with their content, uppermost folders first.

    Raises
    ------
    InputError
        A ``data.yaml`` cannot be decoded; other files that cannot are left out.
    """
    names = sorted(tree.below("", ".yaml", ".yml"), key=lambda name: (name.count("/"), name))
    remaining_bytes = 4 * MOST_YAML

    for name in names:
        try:
            content = tree.read(name, remaining_bytes)
            remaining_bytes -= len(content)
            yield name, decode_yaml(content.decode("utf-8-sig"))
        except InputError:
            continue
        except ValueError as error:
            if PurePosixPath(name).stem == "data":
                raise InputError(str(tree.path), name, str(error), "Correct it.") from None

    yield from _names_alone(tree)


def _names_alone(tree: FileTree) -> Iterator[tuple[str, Any]]:
    """Darknet's ``obj.names``, or ``classes.txt``, with the lists of splits beside it."""
    files = set(tree.names)
    images = tree.below("", *IMAGE_ENDINGS)[:_LOOKED_AT]
    # Label Studio exports labels without pictures.
    has_labels_alone = not images and _has_bare_labels(tree)
    has_labels = not files.isdisjoint(chain.from_iterable(map(_labels_of, images)))
    if not has_labels and not has_labels_alone:
        return
    for name in tree.below("", ".names", "classes.txt", "_darknet.labels"):
        folder = posixpath.dirname(name)
        lists: dict[str, list[str]] = {}
        for path in tree.below(folder, ".txt"):
            split = split_named(PurePosixPath(path).stem)
            if split is not None and posixpath.dirname(path) == folder:
                lists.setdefault(split, []).append(posixpath.basename(path))
        names = list(filter(None, map(str.strip, tree.lines(name))))
        yield name, {"names": names, "nc": len(names), **lists}


def _is_unnamed(tree: FileTree) -> bool:
    """Whether there are labels of YOLO, and no other files name the pictures' content."""
    return not tree.below("", *_OTHERS) and _has_bare_labels(tree)


def _has_bare_labels(tree: FileTree) -> bool:
    """Whether the first pictures, or files in folders of labels, have lines of YOLO."""
    files = set(tree.names)
    images = tree.below("", *IMAGE_ENDINGS)
    named = chain.from_iterable(map(_labels_of, images[:_LOOKED_AT]))
    labels = [name for name in named if name in files]
    if not images:
        labels = list(filter(_FOLDER_OF_LABELS.search, tree.below("", ".txt")))

    lines = (next(tree.lines(label), "") for label in labels[:_LOOKED_AT])
    first_lines = list(filter(str.strip, lines))
    return bool(first_lines) and all(map(_LINE.fullmatch, first_lines))


def _labels_of(image: str) -> Iterator[str]:
    """Paths that the label of an image may have, the usual one first."""
    stem = str(PurePosixPath(image).with_suffix(".txt"))
    for folder in _LABEL_FOLDERS:
        yield _FOLDER_OF_IMAGES.sub(folder, stem)
    yield stem


def _is_begun(named_document: tuple[str, Any]) -> bool:
    """Whether a file is a description, or one by its name and a key."""
    name, document = named_document
    is_named = PurePosixPath(name).stem in ("data", "dataset") and isinstance(document, dict)
    return _is_description(document) or (is_named and not {"names", *_SPLITS}.isdisjoint(document))


def _is_description(document: object) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("names"), list | dict)
        and not document.keys().isdisjoint({*_SPLITS, "nc", "path"})
    )


def _read_description(tree: FileTree, problems: Problems) -> _Description:
    descriptions = filter(lambda named: _is_description(named[1]), _documents(tree))
    file, document = next(descriptions, ("", None))
    if document is None and not any(map(_is_begun, _documents(tree))) and _is_unnamed(tree):
        document = {"names": []}
    if document is None:
        raise problems.fatal(
            "has no data.yaml that names categories and images",
            "Give it one with names and train.",
        )
    numbered = number_items(document["names"])
    try:
        by_number = {int(number): clean_name(str(name)) for number, name in numbered.items()}
    except (TypeError, ValueError):
        raise problems.fatal("names has a key that is no number", "Number them.", file) from None

    root = posixpath.dirname(file)
    # Roboflow has the same names in the folder of each split.
    while not file.endswith((".yaml", ".yml")) and split_named(posixpath.basename(root)):
        root = posixpath.dirname(root)
    # The path may be that of another machine.
    inner = _Places(tree, root).locate(str(document.get("path") or "."))
    if inner is not None and tree.below(inner):
        root = inner

    images: dict[str, list[str]] = {}
    for split in _SPLITS:
        if split in document:
            entries = document[split] if isinstance(document[split], list) else [document[split]]
            paths = filter(lambda entry: isinstance(entry, str), entries)
            images[split] = [path for path in paths if path.lower() not in _NOTHING]
    has_pose = bool(document.get("kpt_shape"))
    n_names = str(document.get("nc") or len(by_number))
    return _Description(file, by_number, images or {"": ["."]}, root, has_pose, n_names)


def _images(
    places: _Places, description: _Description, problems: Problems, notes: list[str]
) -> Iterator[tuple[str, str]]:
    """Split and path of each image, from folders or lists, else of each label; adds notes."""
    n_places = 0
    for split, entries in description.images.items():
        for entry in entries:
            place = places.locate(entry)
            if place is None:
                place = places.same_split(entry)
                instead = f"read {place} in its place" if place else "no image is from there"
                notes.append(f"{entry} ({split} in {description.file}) is not here: {instead}")
            if place is None:
                continue

            n_places += 1
            for name in _images_of(places, place, problems):
                yield split, name

    if not n_places and notes:
        raise problems.fatal(
            "; ".join(notes), "Correct the paths, or put the images there.", description.file
        )


def _images_of(places: _Places, place: str, problems: Problems) -> Iterable[str]:
    """Paths of the images of a list or a folder, else of its labels' images."""
    if place.endswith(".txt") and place in places.files:
        return _listed_images(places, place, problems)
    if place in places.files:
        return [place]

    pictures = places.tree.below(place, *IMAGE_ENDINGS)
    if pictures:
        return pictures
    labels = places.tree.below(_labels_folder(place) if place else "", ".txt")
    if not place:
        labels = list(filter(_FOLDER_OF_LABELS.search, labels))
    return map(_image_of, labels)


def _listed_images(places: _Places, list_name: str, problems: Problems) -> Iterator[str]:
    """Paths of the images of a list, without folders of another machine before them."""
    for number, line in enumerate(map(str.strip, places.tree.lines(list_name)), start=1):
        problems.within("rows", number, list_name, "lines")
        if line:
            yield places.locate(line) or places.whole(line)


def _labels_folder(images: str) -> str:
    return _FOLDER_OF_IMAGES.sub("labels", f"{images}/").rstrip("/")


def _image_of(label: str) -> str:
    """Path of an image that only its label tells of."""
    return str(PurePosixPath(_LABELS.sub("images", label)).with_suffix(".jpg"))


def _parse_line(
    line: str, description: _Description, size: tuple[int, int] | None
) -> dict[str, Any] | None:
    """Arguments of `Collector.mention`: category and box, with a score or a pose; or an outline.

    Sides of a line are relative to those of the image; without its size there is no box.
    """
    fields = line.split()
    if not fields:
        return None
    try:
        number, values = int(float(fields[0])), list(map(float, fields[1:]))
    except (ValueError, OverflowError):
        raise ValueError(f"{line[:80]!r} has a field that is no number") from None
    if description.names and number not in description.names:
        raise ValueError(f"the category {number} is not in names")

    # Behind the box of a pose are its points, behind others a score.
    if description.has_pose:
        values = values[:4]
    is_outline = len(values) >= 6 and len(values) % 2 == 0
    if not is_outline and len(values) not in (4, 5):
        raise ValueError(f"{len(fields)} fields are no box and no outline")
    sides = values if is_outline else values[:4]
    if not all(_LEAST <= value <= _MOST for value in sides):
        raise ValueError(f"{line[:80]!r} leads out of the image: sides are from 0 to 1")

    mention: dict[str, Any] = {"concept": description.names.get(number, f"class {number}")}
    if len(values) == 5:
        mention["score"] = values[4]
    if size is None:
        return mention
    if is_outline:
        across, down = values[::2], values[1::2]
        x, y, w, h = min(across), min(down), max(across) - min(across), max(down) - min(down)
        outline = [round(value * side, 2) for value, side in zip(values, cycle(size), strict=False)]
        mention["segmentation"] = repr([outline]).encode()
    else:
        x, y, w, h = sides[0] - sides[2] / 2, sides[1] - sides[3] / 2, sides[2], sides[3]

    width, height = size
    return {**mention, "box": (x * width, y * height, w * width, h * height)}


PLUGIN = format_of("yolo", Yolo())
