"""Datasets that Hugging Face ``datasets`` saved: a folder or archive of Arrow files.

Its ``load_from_disk`` maps the files as they are: damaged offsets lead it to other memory, and
``state.json`` to any file. Here the files are those of the folder, and every batch of rows is
validated before a value of it is looked at.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from struct import unpack_from
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, InputError, Progress, decode_json
from cobalance.ingest.formats.table import read_table
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, describe_fault
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.tables.hub_features import named_row
from cobalance.ingest.tables.row_values import batch_rows, table_of_rows
from cobalance.ingest.trees import FileTree

_BATCH = 1_000
_DICT, _INFO, _STATE = "dataset_dict.json", "dataset_info.json", "state.json"


class HubDataset(TreeReader):
    """Reader of datasets saved by ``Dataset.save_to_disk`` or ``DatasetDict.save_to_disk``.

    Numbered labels get their names, alone and in lists of objects; an image's path is its address.
    Rows without an id are numbered within their split.
    """

    description = "Hugging Face datasets on disk: a folder or archive of Arrow files"
    uses = frozenset({"table", "vocabulary", "own captions"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether it has the files that describe a saved dataset."""
        return _root(tree) is not None and bool(tree.below("", ".arrow"))

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all splits."""
        problems = Problems(str(tree.path), options)
        try:
            table = table_of_rows(_rows(tree, problems, progress), problems)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 - the libraries raise whatever the files make them
            reason = f"is not a dataset that load_from_disk opens ({describe_fault(error)})"
            raise problems.fatal(reason[:400], "Save it anew.") from None

        return read_table(table, options, progress)


def _rows(
    tree: FileTree, problems: Problems, progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and columns of each row."""
    for split, folder in _splits(tree).items():
        number = 0
        features = _describe(tree, _inside(folder, _INFO)).get("features") or {}
        for batch in _batches(tree, folder):
            for row in batch_rows(_without_pixels(batch, features), problems):
                id_ = "-".join(filter(None, (split, str(number))))
                place = ", ".join(filter(None, (split, f"row {number}")))
                yield place, named_row(row, features, id_, split)
                number += 1
            progress("read", number, None)


def _root(tree: FileTree) -> str | None:
    """Folder in the tree with a saved dataset, or None."""
    marks = map(PurePosixPath, tree.names)
    roots = [path.parent for path in marks if path.name in (_DICT, _INFO)]
    return min(roots, key=lambda path: len(path.parts)).as_posix() if roots else None


def _splits(tree: FileTree) -> dict[str, str]:
    """Folder of each split; a dataset without splits has one without a name."""
    root = _root(tree) or "."
    listing = _inside(root, _DICT)
    if listing not in tree.names:
        return {"": root}
    return {name: _inside(root, name) for name in _describe(tree, listing)["splits"]}


def _batches(tree: FileTree, folder: str) -> Iterator[pa.RecordBatch]:
    """Validated rows of a split, some at a time, of files in the folder alone."""
    for entry in _describe(tree, _inside(folder, _STATE))["_data_files"]:
        name = _inside(folder, entry["filename"]) if isinstance(entry["filename"], str) else ""
        if name not in tree.names:
            raise ValueError(f"it names the file {str(entry['filename'])[:200]!r}")
        with tree.local(name) as path, pa.memory_map(str(path)) as mapped:
            # Compressed rows unpack to any size, before they can be validated.
            if any(map(_is_compressed, pa.ipc.MessageReader.open_stream(mapped))):
                raise ValueError(f"the rows of {name} are compressed")
            mapped.seek(0)
            for batch in pa.ipc.open_stream(mapped):
                batch.validate(full=True)
                for start in range(0, batch.num_rows, _BATCH):
                    yield batch.slice(start, _BATCH)


def _is_compressed(message: pa.ipc.Message) -> bool:
    """Whether a message has compressed rows, which Arrow unpacks all at once, however many.

    That is the fourth field of a batch (https://arrow.apache.org/docs/format/Columnar.html), in
    FlatBuffers' layout: a table begins with the distance back to the places of its fields.
    """
    content = message.metadata.to_pybytes()

    def number_at(offset: int, kind: str = "<i") -> int:
        return int(unpack_from(kind, content, offset)[0])

    def field(table: int, number: int) -> int:
        """Where a field of a table leads to; 0 if the table has none."""
        places, offset = table - number_at(table), 4 + 2 * number
        start = number_at(places + offset, "<H") if offset < number_at(places, "<H") else 0
        return start and table + start + number_at(table + start)

    batch = field(number_at(0), 2)
    if message.type == "dictionary":
        batch = field(batch, 1)
    return message.type != "schema" and field(batch, 3) > 0


def _describe(tree: FileTree, name: str) -> Any:
    """A JSON file that describes the dataset."""
    if name not in tree.names:
        raise ValueError(f"{name} is missing")
    return decode_json(tree.read(name))


def _inside(folder: str, name: str) -> str:
    return (PurePosixPath(folder) / name).as_posix()


def _without_pixels(batch: pa.RecordBatch, features: Mapping[str, Any]) -> pa.RecordBatch:
    """The same rows with the paths of images, and not their bytes."""
    for position, name in enumerate(batch.schema.names):
        column = batch.column(position)
        feature = features.get(name)
        is_image = isinstance(feature, dict) and feature.get("_type") == "Image"
        if is_image and pa.types.is_struct(column.type):
            # A structure may have two fields of one name, which Arrow cannot tell apart.
            paths = column.type.names.count("path") == 1
            light = pc.struct_field(column, "path") if paths else pa.nulls(len(column))
            batch = batch.set_column(position, name, light)
    return batch


PLUGIN = format_of("hub-dataset", HubDataset())
