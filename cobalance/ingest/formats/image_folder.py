"""Image folders with a folder for each class, and the files beside images that name them."""

import posixpath
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from cobalance.base import Annotations, Progress, track
from cobalance.ingest.coco import is_coco
from cobalance.ingest.collector import Collector
from cobalance.ingest.masks.pairs import masks_in
from cobalance.ingest.names import class_parts, split_folders, split_within
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import HEAD, TreeReader, format_of
from cobalance.ingest.tables.guesses import USUAL_NAMES
from cobalance.ingest.tables.list_attr import ListAttr
from cobalance.ingest.tables.plain_list import PlainList
from cobalance.ingest.trees import FileTree
from cobalance.vision import IMAGE_ENDINGS

_DATA = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".xml", ".txt")
_MOST_LOOKED_AT, _SHORT = 1000, 4
_WORDS = re.compile(r"[\s,;:=<>|\"'/\\]+")
_CELLS = re.compile(r"[\r\n\t,;<>|\"'/\\]+")


class ImageFolder(TreeReader):
    """Reader of image folders: folders are classes, and one called as splits are gives the split.

    Images have no concepts, until an annotator finds some. Masks and further bands are no images.
    """

    description = "Image folder: a folder for each class"
    uses = frozenset({"folders"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether there are images in folders of classes or splits, without annotations."""
        masks = masks_in(tree)
        folders = set(map(posixpath.dirname, masks.images))
        splits = split_folders(folders)
        classes = {"/".join(filter(None, class_parts(folder, splits))) for folder in folders}
        has_folders = len(classes - {""}) > 1 or len(splits) > 1
        has_masks = bool(masks.images) and bool(masks.drawn)
        return (has_folders or has_masks) and not any(annotation_files(tree))

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """List the images."""
        collector = Collector(Problems(str(tree.path), options), options)
        masks = masks_in(tree)
        splits = split_folders(map(posixpath.dirname, masks.images))

        for _, name in track(progress, "read", masks.images, 1024):
            split = split_within(posixpath.dirname(name), splits)
            collector.image(name, name, uri=name, split=split)

        notes = [f"{tree.path}: no file names concepts"]
        if masks.drawn:
            notes.append(masks.note(tree.path))
        if masks.of_image:
            notes.append(
                f"{tree.path}: to read the masks, name their values, such as names masks:1=road"
            )
        return collector.annotations(progress, notes)


def annotation_files(tree: FileTree) -> Iterator[str]:
    """Data files that name the tree's images in their first 64 KiB, or any where it has none.

    A COCO file is one wherever its names are.
    """
    images = list(map(PurePosixPath, tree.below("", *IMAGE_ENDINGS)))
    # Short stems, such as numbers, are words of any file.
    stems = [path.stem for path in images if len(path.stem) > _SHORT]
    names = {path.name for path in images}.union(stems) or {*USUAL_NAMES["id"]}

    folder_names = {path.parent.name for path in images}
    for name in tree.below("", *_DATA)[:_MOST_LOOKED_AT]:
        with tree.open(name) as file:
            start = file.read(HEAD)
        # Other text is of lists beside images, to be joined.
        if name.endswith(".txt"):
            is_named = ListAttr().detects(tree.path, start)
            is_named = is_named or (not images and PlainList().detects(tree.path, start))
        else:
            # A name may have spaces, which divide other words.
            text = start.decode("utf-8", "replace")
            words = chain(_WORDS.split(text), map(str.strip, _CELLS.split(text)))
            is_named = start.startswith(b"PAR1") or not names.isdisjoint(words)
            is_named = is_named or (name.endswith(".json") and is_coco(tree.outline(name)))
            if is_named and name.endswith(".json"):
                # An object of lists by class, as of Food-101, says what its folders say.
                is_named = not folder_names.issuperset(tree.outline(name).top or [""])

        if is_named and "submission" not in name:
            yield name


PLUGIN = format_of("image-folder", ImageFolder())
