"""Datasets in several annotation files of a folder or an archive, which are read as one."""

import operator
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, repeat
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import (
    STRING,
    Annotations,
    InputError,
    Progress,
    Setting,
    plain_values,
    shorten_list,
)
from cobalance.ingest.fields import with_split
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.formats.image_folder import annotation_files
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import (
    Coded,
    encode_names,
    split_folders,
    split_of_file,
    split_within,
    without,
)
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import NamedPicture, PictureMatcher
from cobalance.ingest.problems import Problems, reword, reword_all
from cobalance.ingest.reader import TreeReader, read_head
from cobalance.ingest.tables.list_attr import PARTITION, read_partition
from cobalance.ingest.trees import FileTree, is_tree, open_tree
from cobalance.ingest.unknown import unknown_format
from cobalance.ingest.unread_json import unread_form
from cobalance.vision import IMAGE_ENDINGS

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")  # come before other files
_EXPORT = ("manifest.parquet", "cobalance-export.json")  # in each export with images
_SHARD = re.compile(r"\d+|(?<![a-z])(train|val|test|dev)[a-z]*")


def are_shards(names: list[str]) -> bool:
    """Whether names of files differ in numbers and splits alone."""
    return len({_SHARD.sub("", name) for name in names}) == 1


def find_parts(tree: FileTree) -> dict[str, list[str]]:
    """Annotation files by format, in the order of the registry.

    Raises
    ------
    InputError
        Files name images of the tree, and none is of a known format, or one of a form that is not
        read.
    """
    names = list(annotation_files(tree))
    metadata = [name for name in names if PurePosixPath(name).name in _METADATA]
    names = metadata or names
    if {*tree.names} >= {*_EXPORT}:
        names = [_EXPORT[0]]

    files_by_format = defaultdict[str, list[str]](list)
    for name in names:
        with tree.local(name) as path:
            kind = _format_of(path)
        # Any JSON object passes as JSON Lines, so that the file's name has to say so, too.
        if kind == "jsonl" and name.endswith(".json"):
            kind = ""
        # One that is known and not read stops the folder, as its annotations would be missing.
        refusal = None if kind else unread_form(tree.outline(name), f"{tree.path}/{name}")
        if refusal is not None:
            raise refusal
        files_by_format[kind].append(name)

    unknown = files_by_format.pop("", None)
    if unknown and not files_by_format and tree.below("", *IMAGE_ENDINGS):
        with tree.local(unknown[0]) as path:
            remedy = (" to image-folder to leave the file out.",)
            raise unknown_format(path, f"{tree.path}/{unknown[0]}", remedy)
    return {kind: files_by_format[kind] for kind in FORMATS if kind in files_by_format}


def _format_of(path: Path) -> str:
    """Format of a file; empty for none."""
    try:
        head = read_head(path)
    except InputError:
        return ""
    for name, form in FORMATS.items():
        if not isinstance(form.reader, TreeReader) and form.reader.detects(path, head):
            return name
    return ""


@contextmanager
def first_part(path: Path, kind: str) -> Iterator[Path]:
    """A file itself; of a folder or an archive its first annotation file of a format."""
    if is_tree(path):
        with open_tree(path) as tree, tree.local(_choose(tree, kind)[0]) as file:
            yield file
    else:
        yield path


def _choose(tree: FileTree, kind: str) -> list[str]:
    """Files of a format to read; of several about the same images, the ones with names.

    COCO's instances have the images of its key points, CelebA's attributes those of its boxes.
    """
    names = find_parts(tree).get(kind, [])
    if not names:
        raise InputError(str(tree.path), None, f"has no file of the format {kind}", "Name one.")
    word = "attr" if kind == "list-attr" else "instances"
    return [name for name in names if word in PurePosixPath(name).name] or names


def read_parts(tree: FileTree, kind: str, options: ReadOptions, progress: Progress) -> Annotations:
    """Read all annotation files of a format in a folder or an archive.

    A file's name, or that of its folder, gives the split of images without one, else that of the
    folder of each image. Images are looked for in the tree, and named by their paths if they are
    by their files. Ids that repeat get their split before them, or, in files whose names differ in
    numbers and splits alone, their file.

    Raises
    ------
    InputError
        A file cannot be read, or two that are no shards have the same images.
    """
    names = _choose(tree, kind)
    problems = Problems(str(tree.path), options)
    parts = list[Annotations]()
    n_images = 0
    for name in names:
        parts.append(_read_part(tree, name, kind, options, progress))
        n_images += len(parts[-1].images)
        problems.within("rows", n_images)

    parts = _with_own_ids(tree, names, _with_pictures(tree, names, parts))
    try:
        joined = Annotations.concat(parts)
    # A column may hold objects in one file, and text in another.
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise problems.fatal(
            f"has a column of other values in other files ({error})",
            "Write it alike in all of them.",
        ) from None
    read_names = [*names]
    if kind == "list-attr":
        joined, partitions = _with_partition(tree, joined)
        read_names += partitions
    others = without(_annotations_of(tree, kind), read_names)
    if not others:
        return joined
    note = f"{tree.path}: not read: {shorten_list(others)}"
    return replace(joined, notes=(*joined.notes, note))


def _annotations_of(tree: FileTree, kind: str) -> list[str]:
    """Annotation files of the tree; beside lists of attributes other lists are some, too."""
    if kind != "list-attr":
        return list(annotation_files(tree))
    return tree.below("", ".txt", ".csv", ".json")


def _with_partition(tree: FileTree, joined: Annotations) -> tuple[Annotations, list[str]]:
    """Annotations with the splits of CelebA's or DeepFashion's partition, and its files."""
    names = tree.below("", PARTITION)
    splits = dict[str, str]()
    for name in names:
        splits |= read_partition(tree.lines(name))

    images = joined.images
    paths = images["id"].where(images["id"].isin(splits), images["uri"]).fillna(images["id"])

    of_path = [splits.get(path) or splits.get(posixpath.basename(path)) for path in paths]
    return _fill_splits(joined, of_path), names


def _read_part(
    tree: FileTree, name: str, kind: str, options: ReadOptions, progress: Progress
) -> Annotations:
    """Read one file; messages name it by its path in the tree, and its name may give the split."""
    shown_path = f"{tree.path}/{name}"
    with tree.local(name) as file:
        try:
            part = FORMATS[kind].reader.read(file, options, progress)
        except InputError as error:
            raise reword(error, str(file), shown_path) from None
        part = reword_all(part, str(file), shown_path)
    return _fill_splits(part, [split_of_file(name)] * len(part.images))


def _fill_splits(part: Annotations, splits: Sequence[str | None]) -> Annotations:
    """A part with the split of each image without one of its own."""
    column = encode_names(pa.array(splits, TEXT))
    lacking = part.images["split"].isna().to_numpy()
    return with_split(part, Coded(np.where(lacking, column.codes, -1), column.names))


def _with_pictures(
    tree: FileTree, names: Sequence[str], parts: Sequence[Annotations]
) -> list[Annotations]:
    """The parts with the paths of their images in the tree, and splits of their folders."""
    pictures = list[NamedPicture]()
    for name, part in zip(names, parts, strict=True):
        uris = part.images["uri"].fillna(part.images["id"])
        splits = plain_values(part.images["split"])
        pictures += map(NamedPicture, uris, repeat(name), splits)

    paths = tree.below("", *IMAGE_ENDINGS)
    matcher = PictureMatcher(paths, str(tree.path.resolve()))
    matches = iter(zip(pictures, matcher.match(pictures), strict=True))
    split_names = split_folders(map(posixpath.dirname, paths))

    placed = list[Annotations]()
    for part in parts:
        of_part = islice(matches, len(part.images))
        addresses = [match or matcher.free(_beside(picture)) for picture, match in of_part]
        placed.append(_with_paths(part, addresses, split_names))
    return placed


def _beside(picture: NamedPicture) -> str:
    """Address of a picture in the folder of its annotations."""
    if "://" in picture.name:
        return picture.name
    return posixpath.join(posixpath.dirname(picture.file), picture.name)


def _with_paths(
    part: Annotations, uris: Sequence[str | None], splits: Collection[str]
) -> Annotations:
    """A part with the paths of its images, and the splits that their folders are called by."""
    images = part.images
    paths = pd.array(uris, STRING)
    own_ids = images["id"].where(images["id"] != images["uri"], paths).fillna(images["id"])
    placed = replace(part, images=images.assign(id=own_ids, uri=paths))

    by_folder = [split_within(posixpath.dirname(uri or ""), splits) for uri in uris]
    return _fill_splits(placed, by_folder)


def _with_own_ids(tree: FileTree, names: list[str], parts: list[Annotations]) -> list[Annotations]:
    """The parts with ids that differ in all of them."""
    ids = [part.images["id"] for part in parts]
    is_repeated = pd.concat(ids).duplicated(keep=False).to_numpy()
    if not is_repeated.any():
        return parts

    splits = [part.images["split"].astype(STRING).fillna("") + "/" for part in parts]
    tried: list[list[Any]] = [splits]
    if are_shards(names):
        tried.append([f"{name.rpartition('.')[0]}/" for name in names])

    for prefixes in tried:
        renamed = list(map(operator.add, prefixes, ids))
        if not pd.concat(renamed).duplicated().any():
            return [
                replace(part, images=part.images.assign(id=new_ids))
                for part, new_ids in zip(parts, renamed, strict=True)
            ]

    files = np.repeat(names, list(map(len, ids)))[is_repeated]
    first, first_file = pd.concat(ids)[is_repeated].iloc[0], files[0]
    raise InputError(
        f"{tree.path}/{first_file}",
        None,
        f"has the image {first!r}, as {files[files != first_file][0]} has",
        ("Name one of them, and add the others with ", Setting("join"), "."),
    )
