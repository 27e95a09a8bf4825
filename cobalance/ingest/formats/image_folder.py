"""Image folders as Hugging Face reads them: a folder for each class, or metadata beside the images.

https://huggingface.co/docs/datasets/image_dataset
"""

import csv
import posixpath
import re
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
from cobalance.ingest.names import split_named, split_of_path
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import HEAD, TreeReader
from cobalance.ingest.tables.columns import USUAL_NAMES
from cobalance.ingest.tables.list_attr import ListAttr
from cobalance.ingest.tables.lists import PlainList
from cobalance.ingest.tables.loading import CHUNK
from cobalance.ingest.tables.parquet import row_batches
from cobalance.ingest.tables.row_values import batch_rows, table_of_rows
from cobalance.ingest.trees import FileTree

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_DATA = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".xml", ".txt")
_MOST_LOOKED_AT, _SHORT = 1000, 4
_WORDS = re.compile(r"[\s,;:=<>|\"'/\\]+")
_FILE = ("file_name", "image", "path")
_OTHER_ENDINGS = ("jpeg", "tiff")
IMAGE_ENDINGS = tuple(sorted({f".{it}" for it in (*IMAGE_FORMATS.values(), *_OTHER_ENDINGS)}))


class ImageFolder(TreeReader):
    """Reader of image folders.

    With metadata, its columns are as those of any table; an image is named by its path. Folders are
    classes where no column is, and a folder called as splits are gives the split. Without metadata
    images have no concepts, until an annotator finds some.
    """

    description = "Image folder: a folder for each class, or metadata.csv, .jsonl or .parquet"
    uses = frozenset({"table", "vocabulary", "own captions", "folders"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether there is metadata with file names, or images in folders without annotations."""
        if any(_has_file_names(tree, name) for name in _metadata(tree)):
            return True
        folders = {posixpath.dirname(name) for name in tree.below("", *IMAGE_ENDINGS)}
        named = (
            [part for part in folder.split("/") if not split_named(part)] for folder in folders
        )
        several = len({"/".join(parts) for parts in named} - {""}) > 1
        return several and not any(annotation_files(tree))

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the metadata, or list the images."""
        problems = Problems(str(tree.path), options)
        names = [name for name in _metadata(tree) if _has_file_names(tree, name)]
        if not names:
            return _list_values(tree, options, problems, progress)
        rows = _images(tree, names, problems, progress)
        return read_table(table_of_rows(rows, problems), options, progress)


def _images(
    tree: FileTree, names: list[str], problems: Problems, progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and columns of each image."""
    number = 0
    for name in names:
        for place, values in _rows(tree, name, problems):
            if number % CHUNK == 0:
                progress("read", number, None)
            number += 1
            yield f"{name}, {place}", _with_path(values, name)


def annotation_files(tree: FileTree) -> Iterator[str]:
    """Data files that name the tree's images in their first 64 KiB, or any where it has none."""
    images = [PurePosixPath(name) for name in tree.below("", *IMAGE_ENDINGS)]
    stems = (path.stem for path in images)
    wanted = {path.name for path in images}.union(stem for stem in stems if len(stem) > _SHORT)
    wanted = wanted or {*USUAL_NAMES["id"].split()}
    for name in tree.below("", *_DATA)[:_MOST_LOOKED_AT]:
        with tree.open(name) as file:
            start = file.read(HEAD)
        words = _WORDS.split(start.decode("utf-8", "replace"))
        if name.endswith(".txt"):  # others are lists beside images, to be joined
            named = ListAttr().detects(tree.path, start)
            named = named or (not images and PlainList().detects(tree.path, start))
        else:
            named = start.startswith(b"PAR1") or not wanted.isdisjoint(words)
        if named and "submission" not in name:
            yield name


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
    split = split_of_path(path or "")
    return found if split is None or "split" in found else {**found, "split": split}


def _list_values(
    tree: FileTree, options: ReadOptions, problems: Problems, progress: Progress
) -> Annotations:
    collector = Collector(problems, options)
    names = tree.below("", *IMAGE_ENDINGS)
    for number, name in enumerate(names):
        if number % 1024 == 0:
            progress("read", number, len(names))
        collector.image(name, name, uri=name, split=split_of_path(name))
    progress("read", len(names), len(names))
    return collector.annotations(progress, [f"{tree.path}: images have no concepts yet"])
