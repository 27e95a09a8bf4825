"""Splits of images in folders, by lists beside them: ``meta/train.txt`` and ``meta/test.txt``."""

import posixpath
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

import pyarrow as pa

from cobalance.base import Annotations, shorten_list
from cobalance.ingest.fields import with_split
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import encode_names, split_named
from cobalance.ingest.trees import FileTree
from cobalance.vision import IMAGE_ENDINGS


def with_split_lists(annotations: Annotations, tree: FileTree) -> Annotations:
    """Annotations with the splits of lists called by them that name each image once.

    Lists of some of the images, or of several partitions, give none; neither do lists beside
    folders of splits.
    """
    images = annotations.images
    lists = dict[str, str]()

    for name in tree.below("", ".txt"):
        split = split_named(PurePosixPath(name).stem)
        if split is not None:
            lists[name] = split

    if len({*lists.values()}) < 2 or images["split"].notna().any():
        return annotations

    split_of_stem = dict[str, str]()
    for name, split in lists.items():
        stems = set(map(_stem, filter(None, map(str.strip, tree.lines(name)))))
        if not stems.isdisjoint(split_of_stem):
            return annotations
        split_of_stem |= dict.fromkeys(stems, split)

    splits = _splits_of(images["uri"], split_of_stem)
    if None in splits:
        return annotations

    note = f"{tree.path}: splits are those of {shorten_list(sorted(lists))}"
    column = encode_names(pa.array(splits, TEXT))
    return replace(with_split(annotations, column), notes=(*annotations.notes, note))


def _splits_of(paths: Iterable[str], split_of_stem: dict[str, str]) -> list[str | None]:
    """The split of each path, by as many of its last levels as the lists have; None without any."""
    depth = max((stem.count("/") + 1 for stem in split_of_stem), default=1)
    tails = list[str]()

    for path in paths:
        tails.append(posixpath.join(*_stem(path).split("/")[-depth:]))

    # Images of one name in two folders are not told apart by lists of names.
    if len({*tails}) < len(tails):
        return [None]
    return list(map(split_of_stem.get, tails))


def _stem(path: str) -> str:
    """A path without the ending of a picture."""
    stem, dot, ending = path.rpartition(".")
    return stem if f"{dot}{ending}".lower() in IMAGE_ENDINGS else path
