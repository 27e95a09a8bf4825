"""Datasets in several annotation files of a folder or an archive, which are read as one."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from cobalance.graph.arrays import STRING
from cobalance.graph.errors import InputError, Setting
from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations
from cobalance.ingest.fields.roles import with_split
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.formats.image_folder import IMAGE_ENDINGS, annotation_files
from cobalance.ingest.names import Coded, split_of_file, split_of_path
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, reword, reword_all
from cobalance.ingest.reader import TreeReader, read_head
from cobalance.ingest.tables.columns import shorten_list
from cobalance.ingest.trees import FileTree, is_tree, open_tree

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
        Files name images of the tree, and none is of a known format.
    """
    found = defaultdict[str, list[str]](list)
    names = list(annotation_files(tree))
    metadata = [it for it in names if PurePosixPath(it).name in _METADATA]
    for name in [_EXPORT[0]] if {*tree.names} >= {*_EXPORT} else metadata or names:
        with tree.local(name) as path:
            kind = _format_of(path)
        found["" if kind == "jsonl" and name.endswith(".json") else kind].append(name)
    unknown = found.pop("", None)
    if unknown and not found and tree.below("", *IMAGE_ENDINGS):
        reason = f"names images here, and is of none of the known formats ({', '.join(FORMATS)})"
        remedy = ("Set ", Setting("input_format"), " to image-folder to leave it out.")
        raise InputError(f"{tree.path}/{unknown[0]}", None, reason, remedy)
    return {kind: found[kind] for kind in FORMATS if kind in found}


def _format_of(path: Path) -> str:
    """Format of a file; empty for none."""
    try:
        head = read_head(path)
    except InputError:
        return ""
    files = (each for each in FORMATS.items() if not isinstance(each[1].reader, TreeReader))
    return next((name for name, known in files if known.reader.detects(path, head)), "")


@contextmanager
def first_part(path: Path, kind: str) -> Iterator[Path]:
    """A file itself; of a folder or an archive its first annotation file of a format."""
    if is_tree(path):
        with open_tree(path) as tree, tree.local(_choose(tree, kind)[0]) as file:
            yield file
    else:
        yield path


def _choose(tree: FileTree, kind: str) -> list[str]:
    """Files of a format to read; COCO's instances have the images of its key points."""
    names = find_parts(tree).get(kind, [])
    if not names:
        raise InputError(str(tree.path), None, f"has no file of the format {kind}", "Name one.")
    return [name for name in names if "instances" in PurePosixPath(name).name] or names


def read_parts(tree: FileTree, kind: str, options: ReadOptions, progress: Progress) -> Annotations:
    """Read all annotation files of a format in a folder or an archive.

    A file's name, or that of its folder, gives the split of images without one. Images are looked
    for in the tree, and named by their paths if they are by their files. Ids that repeat get their
    split before them, or, in files whose names differ in numbers and splits alone, their file.

    Raises
    ------
    InputError
        A file cannot be read, or two that are no shards have the same images.
    """
    names, paths = _choose(tree, kind), tree.below("", *IMAGE_ENDINGS)
    places = defaultdict[str, list[str]](list)
    for path in paths:
        for key in {PurePosixPath(path).name, PurePosixPath(path).stem}:
            places[key].append(path)
    problems = Problems(str(tree.path), options)
    parts = list[Annotations]()
    for name in names:
        shown = f"{tree.path}/{name}"
        with tree.local(name) as file:
            try:
                part = FORMATS[kind].reader.read(file, options, progress)
            except InputError as error:
                raise reword(error, str(file), shown) from None
            parts.append(_place_file(reword_all(part, str(file), shown), name, places))
        problems.within("rows", sum(len(part.images) for part in parts))
    found = Annotations.concat(_with_own_ids(tree, names, parts))
    others = [name for name in annotation_files(tree) if name not in names]
    note = f"{tree.path}: not read: {shorten_list(others)}"
    return replace(found, notes=(*found.notes, *([note] if others else [])))


def _place_file(part: Annotations, name: str, places: dict[str, list[str]]) -> Annotations:
    """A file's annotations with its split, and the paths of its images by their names."""
    split = split_of_file(name)
    if split is not None:
        lacking = part.images["split"].isna().to_numpy()
        part = with_split(part, Coded(np.where(lacking, 0, -1), (split,)))

    def find(uri: str) -> str:
        beside = posixpath.join(posixpath.dirname(name), uri)
        found = [
            path
            for path in places.get(posixpath.basename(uri), ())
            if "/" not in uri or f"/{path}".endswith(f"/{uri}") or uri.endswith(f"/{path}")
        ]
        likely = [path for path in found if split_of_path(path) == split] or found
        return beside if beside in found or len(likely) != 1 else likely[0]

    images = part.images
    given = images["uri"].fillna(images["id"])
    paths = pd.array([find(uri) for uri in given], STRING)
    ids = images["id"].where(images["id"] != images["uri"], paths)
    return replace(part, images=images.assign(id=ids, uri=paths))


def _with_own_ids(tree: FileTree, names: list[str], parts: list[Annotations]) -> list[Annotations]:
    """The parts with ids that differ in all of them."""
    ids = [part.images["id"] for part in parts]
    repeats = pd.concat(ids).duplicated(keep=False).to_numpy()
    if not repeats.any():
        return parts
    splits = [part.images["split"].astype(STRING).fillna("") + "/" for part in parts]
    before = [splits]
    if are_shards(names):
        files = (f"{name.rpartition('.')[0]}/" for name in names)
        before.append(
            [pd.Series(file, own.index, STRING) for file, own in zip(files, ids, strict=True)]
        )
    for prefixes in before:
        renamed = [prefix + own for prefix, own in zip(prefixes, ids, strict=True)]
        if not pd.concat(renamed).duplicated().any():
            return [
                replace(part, images=part.images.assign(id=own))
                for part, own in zip(parts, renamed, strict=True)
            ]
    of = np.repeat(names, [len(own) for own in ids])[repeats]
    first = pd.concat(ids)[repeats].iloc[0]
    remedy = ("Name one of them, and add the others with ", Setting("join"), ".")
    reason = f"has the image {first!r}, as {of[of != of[0]][0]} has"
    raise InputError(f"{tree.path}/{of[0]}", None, reason, remedy)
