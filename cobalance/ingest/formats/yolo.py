"""YOLO: a text file of boxes or outlines for each image, and data.yaml with the categories."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import PurePosixPath
from typing import Any

from cobalance.base import (
    MOST_YAML,
    Annotations,
    InputError,
    MissingExtraError,
    Progress,
    clean_name,
    decode_yaml,
    inflect,
    track,
)
from cobalance.ingest.collector import Collector
from cobalance.ingest.names import number_items, split_of_path
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.trees import FileTree
from cobalance.vision.images import IMAGE_ENDINGS, MAX_BYTES, ImageFileError, is_turned, read_header

_SPLITS = ("train", "val", "test")
_LISTS = {"train.txt": "train", "val.txt": "val", "valid.txt": "val", "test.txt": "test"}
_LOOKED_AT = 100  # images, for labels
_HEADER_BYTES = 1 << 16
_FOLDER_OF_IMAGES = re.compile(r"(?:(?<=/)|^)images(?=/)(?!.*/images/)")
_LEAST, _MOST = -0.01, 1.01  # rounding leads a little out of the image


@dataclass(frozen=True)
class _Description:
    """Content of ``data.yaml``: category names, images by split, points of a pose."""

    names: Mapping[int, str]
    images: Mapping[str, Sequence[str]]
    root: str
    has_pose: bool


class Yolo(TreeReader):
    """Reader of YOLO folders; boxes and outlines are relative, and images say how large they are.

    The boxes of images that are not there, or whose size cannot be read, are left out, their
    mentions are not. An image of several splits is of the first of train, val and test.
    """

    description = "YOLO: a folder or archive with data.yaml and a text file of boxes for each image"

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether a YAML file, or a list beside labels, names categories or images of splits."""
        return any(map(_is_begun, _documents(tree)))

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the images of each split, and their labels."""
        problems = Problems(str(tree.path), options)
        description = _read_description(tree, problems)
        files = set(tree.names)
        images: dict[str, str | None] = {}
        n_shared: Counter[tuple[str | None, str | None]] = Counter()
        for listed_split, name in dict.fromkeys(_images(tree, description, files, problems)):
            split = listed_split or split_of_path(name)
            first = images.setdefault(name, split)
            if split != first:
                n_shared[split, first] += 1

        collector = Collector(problems, options)
        n_without_size = 0
        for _, (name, split) in track(progress, "read", list(images.items()), 256):
            size = picture_size(tree, name) if name in files else None
            width, height = size or (None, None)
            id_ = posixpath.relpath(name, description.root or ".")
            image = collector.image(id_, name, uri=name, width=width, height=height, split=split)
            label = _label_of(name)
            # An image of nothing has no label.
            if label in files:
                n_without_size += size is None
                for place, mention in _mentions(tree, label, description, size, problems):
                    collector.mention(image, place=place, **mention)

        notes = [
            f"{tree.path}: {first} and {split} share {inflect(n, 'images')}, counted as {first}"
            for (split, first), n in n_shared.items()
        ]
        if n_without_size:
            reason = f"boxes of {n_without_size:,} images left out, as their sizes are unknown"
            notes.append(f"{tree.path}: {reason}")
        return collector.annotations(progress, notes)


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
    if files.isdisjoint(map(_label_of, images)):
        return
    for name in tree.below("", ".names", "classes.txt"):
        folder = PurePosixPath(name).parent
        lists = {split: file for file, split in _LISTS.items() if str(folder / file) in files}
        names = list(filter(None, map(str.strip, tree.lines(name))))
        yield name, {"names": names, "nc": len(names), **lists}


def _label_of(image: str) -> str:
    """Path of the label of an image."""
    return str(PurePosixPath(_FOLDER_OF_IMAGES.sub("labels", image)).with_suffix(".txt"))


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

    folder = str(PurePosixPath(file).parent)
    root = "" if folder == "." else folder
    inner = posixpath.normpath(posixpath.join(root, str(document.get("path") or ".")))
    # The path may be that of another machine.
    if tree.below(inner) and inner != ".":
        root = inner

    images: dict[str, list[str]] = {}
    for split in _SPLITS:
        if split in document:
            entries = document[split] if isinstance(document[split], list) else [document[split]]
            images[split] = [entry for entry in entries if isinstance(entry, str) and entry]
    return _Description(
        by_number, images or {"": ["."]}, root, has_pose=bool(document.get("kpt_shape"))
    )


def _images(
    tree: FileTree, description: _Description, files: set[str], problems: Problems
) -> Iterator[tuple[str, str]]:
    """Split and path of each image, from folders or lists, else of each label."""
    for split, entries in description.images.items():
        for entry in entries:
            place = _within(description.root, entry)
            names: Iterable[str]
            if entry.endswith(".txt") and place in files:
                names = _listed_images(tree, place, description.root, files, problems)
            else:
                labels = tree.below(_labels_folder(place), ".txt") if place else []
                names = tree.below(place, *IMAGE_ENDINGS)
                names = names or [_image_of(label, place) for label in labels]
            for name in names:
                yield split, name


def _listed_images(
    tree: FileTree, list_name: str, root: str, files: set[str], problems: Problems
) -> Iterator[str]:
    """Paths of the images of a list, with or without the first folder of each line."""
    for number, line in enumerate(map(str.strip, tree.lines(list_name)), start=1):
        problems.within("rows", number, list_name, "lines")
        if line:
            whole, inner = _within(root, line), _within(root, line.partition("/")[2])
            yield inner if inner in files and whole not in files else whole


def _within(root: str, path: str) -> str:
    """A path of data.yaml in the tree: some tools begin it with ``./``, others with ``../``."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("..", "/")]
    joined = posixpath.normpath(posixpath.join(root, *parts))
    if joined == ".":
        return ""
    return joined


def _labels_folder(images: str) -> str:
    return _FOLDER_OF_IMAGES.sub("labels", f"{images}/").rstrip("/")


def _image_of(label: str, images: str) -> str:
    """Path of an image that only its label tells of."""
    inner = PurePosixPath(label).relative_to(_labels_folder(images)).with_suffix(".jpg")
    return f"{images}/{inner}"


def picture_size(tree: FileTree, name: str) -> tuple[int, int] | None:
    """Width and height of a picture of a tree, as it is shown; None if it does not say them."""
    # Some formats say how large they are at their end.
    for most in (_HEADER_BYTES, MAX_BYTES):
        with suppress(ImageFileError, MissingExtraError, InputError):
            with tree.open(name, anywhere=True) as file:
                content = file.read(most)

            header = read_header(content)
            stored = header.width_px, header.height_px
            if is_turned(content):
                return stored[::-1]
            return stored
    return None


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
    if number not in description.names:
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

    mention: dict[str, Any] = {"concept": description.names[number]}
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
