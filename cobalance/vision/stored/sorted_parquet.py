"""Parquet sorted by image id, of which the rows of a few images are read without the others.

No image spans two row groups, and the file's metadata has the last id of each group.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cobalance.base import InputError

_LAST_IDS = b"cobalance.last_ids"


@dataclass(frozen=True, eq=False)
class SortedFile:
    """An open file, to be closed; replacing the file on disk does not affect it.

    `content` is what it holds, for messages; `last_ids` has the last id of each row group.
    """

    path: Path
    content: str
    file: BinaryIO
    footer: pq.FileMetaData
    last_ids: list[str]

    def groups(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Read all row groups one after the other; see `read`."""
        for group in range(len(self.last_ids)):
            yield self.read([group], schema)

    def groups_of(self, ids: Collection[str]) -> list[int]:
        """Row groups that have the rows of some images, if any has."""
        places = {bisect_left(self.last_ids, image) for image in ids}
        return sorted(places - {len(self.last_ids)})

    def read(self, groups: Collection[int], schema: pa.Schema) -> pa.Table:
        """Read the columns of a schema in some row groups; InputError if that fails."""
        if not groups:
            return schema.empty_table()
        try:
            parquet = pq.ParquetFile(self.file, metadata=self.footer)
            table = parquet.read_row_groups(groups, columns=schema.names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, self.content, error) from error
        return table.select(schema.names)


# Footers of recently read files: reading one takes longer than reading a dozen row groups.
_footers: dict[Path, tuple[object, pq.FileMetaData, list[str]]] = {}
_MOST_FOOTERS = 8


def open_sorted(path: Path, content: str) -> SortedFile | None:
    """Open a file of a dataset, or return None.

    Raises
    ------
    InputError
        It is not one, or cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, content, error) from error

    try:
        status = os.fstat(file.fileno())
        stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        cached = _footers.get(path)
        if cached is None or cached[0] != stamp:
            footer = pq.read_metadata(file)
            last_ids = msgspec.json.decode(footer.metadata[_LAST_IDS], type=list[str])
            if len(_footers) >= _MOST_FOOTERS:
                _footers.clear()
            cached = _footers[path] = (stamp, footer, last_ids)
    except (pa.ArrowException, OSError, KeyError, TypeError, msgspec.DecodeError) as error:
        file.close()
        raise _unreadable(path, content, error) from error

    _, footer, last_ids = cached
    return SortedFile(path, content, file, footer, last_ids)


def read_rows(
    path: Path, content: str, schema: pa.Schema, ids: Collection[str] | None = None
) -> pa.Table:
    """Read the rows of some images, or of all; none if there is no file.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    opened = open_sorted(path, content)
    if opened is None:
        return schema.empty_table()
    with opened.file:
        if ids is None:
            return opened.read(range(len(opened.last_ids)), schema)
        table = opened.read(opened.groups_of(ids), schema)
    return table.filter(pc.is_in(table["id"], pa.array(list(ids), pa.string())))


def _unreadable(path: Path, content: str, error: Exception) -> InputError:
    reason = f"is no file of {content} ({error})"
    return InputError(str(path), None, reason, "Delete it, and ingest the dataset again.")


def write_sorted(
    path: Path,
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    dictionary: list[str],
    progress: Callable[[int], None],
) -> int:
    """Write one row group for each table that has rows, and return their number of rows.

    Without rows there is no file.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        Sorted by id, no id in two of them.
    dictionary : list of str
        Columns of few values.
    progress : callable
        Called with the number of rows written so far.
    """
    n_rows, last_ids = 0, []
    with (
        path.open("wb") as file,
        pq.ParquetWriter(
            file, schema, compression="zstd", compression_level=1, write_statistics=False,
            use_dictionary=dictionary,
        ) as writer,
    ):  # fmt: skip
        for table in tables:
            if not len(table):
                continue
            writer.write_table(table, row_group_size=len(table))
            last_ids.append(table["id"][-1].as_py())
            n_rows += len(table)
            progress(n_rows)

        writer.add_key_value_metadata({_LAST_IDS: msgspec.json.encode(last_ids)})
        # Closed before the sync, as closing writes the footer.
        writer.close()
        file.flush()
        os.fsync(file.fileno())

    if not n_rows:
        path.unlink()
    return n_rows
