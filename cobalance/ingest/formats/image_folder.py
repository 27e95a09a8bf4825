"""Image folders as Hugging Face reads them: a folder for each class, or metadata beside the images.

https://huggingface.co/docs/datasets/image_dataset
"""

import csv
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations
from cobalance.ingest.collector import Collector
from cobalance.ingest.documents import decode_json
from cobalance.ingest.formats.table import read_table
from cobalance.ingest.images.decoding import FORMATS as IMAGE_FORMATS
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader
from cobalance.ingest.tables.columns import usual_column
from cobalance.ingest.tables.loading import CHUNK
from cobalance.ingest.tables.parquet import row_batches
from cobalance.ingest.tables.row_values import batch_rows, table_of_rows
from cobalance.ingest.trees import FileTree

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_FILE = ("file_name", "image", "path")
_SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val",
           "validation": "val", "dev": "val", "test": "test", "testing": "test",
           "eval": "test"}  # fmt: skip
_OTHER_ENDINGS = ("jpeg", "tiff")
IMAGE_ENDINGS = tuple(sorted({f".{it}" for it in (*IMAGE_FORMATS.values(), *_OTHER_ENDINGS)}))


class ImageFolder(TreeReader):
    """Reader of image folders.

    With metadata, its columns are as those of any table; an image is named by its path. The folder
    of an image is its class where no column is, and a folder called as splits are gives the split.
    Without metadata images have classes and no concepts, until an annotator finds some.
    """

    description = "Image folder: a folder for each class, or metadata.csv, .jsonl or .parquet"
    uses = frozenset({"table", "vocabulary", "own captions"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether there is metadata with file names, or images in at least two class folders."""
        if any(_has_file_names(tree, name) for name in _metadata(tree)):
            return True
        images = tree.below("", *IMAGE_ENDINGS)
        return not _metadata(tree) and len({_class_of(name) for name in images} - {None}) > 1

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the metadata, or list the images."""
        problems = Problems(str(tree.path), options)
        names = [name for name in _metadata(tree) if _has_file_names(tree, name)]
        if not names:
            return _list_values(tree, options, problems, progress)
        rows = _images(tree, names, problems, bool(options.class_column), progress)
        return read_table(table_of_rows(rows, problems), options, progress)


def _images(
    tree: FileTree, names: list[str], problems: Problems, has_class: bool, progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and columns of each image; its folder is its class where the first has no column."""
    number = 0
    for name in names:
        for place, values in _rows(tree, name, problems):
            row = _with_path(values, name)
            has_class = has_class or (not number and usual_column("class", row) is not None)
            if number % CHUNK == 0:
                progress("read", number, None)
            number += 1
            own = {} if has_class else {"class": _class_of(row["image_id"])}
            yield f"{name}, {place}", {**row, **own}


def _metadata(tree: FileTree) -> list[str]:
    return [name for name in tree.below("", *_METADATA) if PurePosixPath(name).name in _METADATA]


def _has_file_names(tree: FileTree, name: str) -> bool:
    if name.endswith(".parquet"):
        with tree.local(name) as path:
            try:
                return "file_name" in pq.read_schema(path).names
            except (pa.ArrowException, OSError):
                return False
    with tree.open(name) as file:
        start = file.readline(1 << 20)
    return b"file_name" in start


def _rows(tree: FileTree, name: str, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and values of each row."""
    if name.endswith(".parquet"):
        own = problems.beside(f"{tree.path}/{name}")
        with tree.local(name) as path:
            rows = (row for batch in row_batches(path, own) for row in batch_rows(batch, own))
            yield from ((f"row {number}", row) for number, row in enumerate(rows))
        return
    if name.endswith(".csv"):
        lines = csv.DictReader(tree.lines(name), restkey="")
        try:
            yield from ((f"line {lines.line_num}", row) for row in lines)
        except csv.Error as error:
            raise problems.fatal(f"is not CSV ({error})", "Write it anew.", name) from None
        return
    for number, line in enumerate(tree.lines(name), start=1):
        if line.strip():
            found, reason = None, "is not a JSON object"
            try:
                found = decode_json(line)
            except ValueError as error:
                reason = f"is not JSON ({error})"
            if isinstance(found, dict):
                yield f"line {number}", found
            else:
                problems.record(f"{name}, line {number}", reason, "Write an object a line")


def _with_path(row: Mapping[str, Any], metadata: str) -> dict[str, Any]:
    """A row with the path of its image in the tree, as id and address, and the split."""
    file = next((row[key] for key in _FILE if isinstance(row.get(key), str)), None)
    path = None if file is None else posixpath.join(posixpath.dirname(metadata), file)
    if path and ("//" in path or "/." in f"/{path}"):
        path = PurePosixPath(path).as_posix()
    others = {key: value for key, value in row.items() if key not in ("file_name", "", None)}
    found = {"image_id": path, "file_name": path, **others}
    split = _split_of(path or "")
    return found if split is None or "split" in found else {**found, "split": split}


def _split_of(path: str) -> str | None:
    folders = (part.lower() for part in path.split("/")[:-1])
    return next((_SPLITS[folder] for folder in folders if folder in _SPLITS), None)


def _class_of(path: str | None) -> str | None:
    """The folder of an image, unless it is the outermost or that of a split."""
    folders = (path or "").split("/")[:-1]
    return None if not folders or folders[-1].lower() in _SPLITS else folders[-1]


def _list_values(
    tree: FileTree, options: ReadOptions, problems: Problems, progress: Progress
) -> Annotations:
    collector = Collector(problems, options)
    names = tree.below("", *IMAGE_ENDINGS)
    for number, name in enumerate(names):
        if number % 1024 == 0:
            progress("read", number, len(names))
        collector.image(name, name, uri=name, split=_split_of(name), class_name=_class_of(name))
    progress("read", len(names), len(names))
    note = f"{tree.path}: classes are the folders of the images, which have no concepts yet"
    return collector.annotations(progress, [note])
