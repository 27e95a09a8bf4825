"""WebDataset: tar files whose files of one name are a sample, with JSON beside the image.

https://github.com/webdataset/webdataset
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, Progress, decode_json, group_pairs, inflect, track
from cobalance.ingest.formats.table import read_table
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.tables.guesses import usual_column
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.row_values import table_of_rows
from cobalance.ingest.trees import FileTree, open_tree
from cobalance.vision import IMAGE_ENDINGS

_KEY = "image_id"  # column of keys
_TEXT = {".cls": "class", ".txt": "caption"}
_DESCRIBED = (".json", *_TEXT)


class WebDataset(TreeReader):
    """Reader of a shard or a folder of shards.

    The keys of a sample's JSON are columns; its ``cls`` is the class and its ``txt`` the caption
    where the JSON has none. A sample's address is the shard and the name of its image in there.
    """

    description = "WebDataset: tar files with an image and JSON for each sample"
    uses = frozenset({"table", "vocabulary", "own captions"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether it is a tar file of images with JSON, or a folder of such files."""
        if not tree.path.is_dir():
            return tree.is_tar and _has_samples(tree)
        shards = tree.below("", ".tar")
        if not shards:
            return False
        with tree.local(shards[0]) as path, open_tree(path) as shard:
            return _has_samples(shard)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the samples of all shards."""
        problems = Problems(str(tree.path), options)
        shards = tree.below("", ".tar") if tree.path.is_dir() else [""]
        classes = _class_names(tree)

        several: list[str] = []
        full_keys: list[str] = []

        def rows() -> Iterator[tuple[str, dict[str, Any]]]:
            for _, name in track(progress, "read", shards):
                place = tree.local(name) if name else nullcontext(tree.path)
                with place as path, open_tree(path) as shard:
                    for key, row in _samples(shard, name or tree.path.name, problems, several):
                        is_own_id = row.get(_KEY) != key
                        full_key = f"{name.removesuffix('.tar')}/{key}"
                        full_keys.append(str(row.get(_KEY)) if is_own_id else full_key)
                        yield f"{name}, {key}" if name else key, _name_class(row, classes)

        table = _with_own_keys(table_of_rows(rows(), problems), full_keys)
        annotations = read_table(table, options, progress)
        if not several:
            return annotations
        note = f"{tree.path}: of {inflect(len(several), 'samples')} with several pictures"
        return replace(
            annotations, notes=(*annotations.notes, f"{note} one is taken, such as {several[0]}")
        )


def _with_own_keys(table: Table, full_keys: Sequence[str]) -> Table:
    """A table whose samples have their shards before their keys, if keys of shards repeat."""
    keys = table.columns.get(_KEY)
    if keys is None or len(keys) != len(full_keys):
        return table
    if pc.count_distinct(keys, mode="all").as_py() == len(keys):
        return table
    return replace(table, columns={**table.columns, _KEY: pa.array(full_keys, keys.type)})


def _has_samples(shard: FileTree) -> bool:
    stems = set(map(_key, shard.below("", *IMAGE_ENDINGS)))
    return not stems.isdisjoint(map(_key, shard.below("", *_DESCRIBED)))


def _key(name: str) -> str:
    """A sample's key: the path up to the first full stop of the file name."""
    path = PurePosixPath(name)
    return (path.parent / path.name.split(".", 1)[0]).as_posix()


def _samples(
    shard: FileTree, name: str, problems: Problems, several: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    parts = group_pairs((_key(file), file) for file in shard.names)
    for key, files in parts.items():
        row: dict[str, Any] = {}
        # The picture has the fewest endings: key.seg.png is drawn of key.png.
        pictures = [file for file in files if file.lower().endswith(IMAGE_ENDINGS)]
        image = min(pictures, key=lambda file: file.count("."), default=None)
        if len(pictures) > 1:
            several.append(f"{name}/{image}")

        for file in files:
            ending = PurePosixPath(file).suffix.lower()
            if ending == ".json":
                row = {**row, **_json(shard, file, problems)}
            elif ending in _TEXT:
                text = shard.read(file).decode("utf-8", "replace")
                row.setdefault(_TEXT[ending], text.strip())

        if image is None:
            continue
        if usual_column("id", row) is None:
            row = {_KEY: key, **row}
        yield key, {"uri": f"{name}/{image}", **row}


def _json(shard: FileTree, file: str, problems: Problems) -> Mapping[str, Any]:
    try:
        document = decode_json(shard.read(file))
    except ValueError as error:
        problems.record(file, f"is not JSON ({error})", "Write an object")
        return {}

    if not isinstance(document, dict):
        problems.record(file, "is not a JSON object", "Write an object")
        return {}
    return document


def _class_names(tree: FileTree) -> list[str]:
    """Names of numbered classes, from ``classes.json`` in the folder of the shards."""
    name = next((name for name in tree.names if name.endswith("classes.json")), None)
    if name is None or not tree.path.is_dir():
        return []
    try:
        document = decode_json(tree.read(name))
    except ValueError:
        return []
    if not isinstance(document, list):
        return []
    return list(map(str, document))


def _name_class(row: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    number = str(row.get("class", ""))
    is_known = number.isdecimal() and int(number) < len(classes)
    if not is_known:
        return row
    return {**row, "class": classes[int(number)]}


PLUGIN = format_of("webdataset", WebDataset())
