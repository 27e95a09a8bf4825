"""Parquet files of this machine, counted part by part."""

import hashlib
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.base import InputError, IntArray, Progress, clean_name, silent
from cobalance.counting import Kernel, available_cores, run_shared
from cobalance.ingest import hub_features
from cobalance.workflows.in_files.files import FILE, ROW

BATCH = 131_072
"""Rows that are read at once."""
TASK = 4_000_000
"""Rows of a task: what it has counted is added up at its end, and its memory is free."""
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file, by its number, and the number of its first row."""

    file: Path
    number: int
    first_row: int
    n_rows: int


Task = tuple[RowGroup, ...]


class ParquetRows:
    """Rows of Parquet files of this machine, without pixels.

    Parameters
    ----------
    path : str
        All of them, as a person wrote it.
    files : sequence of Path
        One or more.

    Raises
    ------
    InputError
        A file cannot be read, or a column has several types or is not in all files.
    """

    def __init__(self, path: str, files: Sequence[Path]) -> None:
        self.path = path
        self.stamp = _stamp_files(files)
        # What files say of themselves is read once.
        footers = {file: _metadata(file) for file in files}
        self.schema = _common_schema(footers, path)
        self.columns = pa.schema([field for field in self.schema if _light(field)])
        self._coded = _repeated_texts(footers[files[0]])
        self._groups = [group for file in files for group in _row_groups(file, footers[file])]
        metadata = (self.schema.metadata or {}).get(b"huggingface")
        self.features: Mapping[str, Any] = hub_features(metadata and metadata.decode())

    def split(self, n_rows: int) -> list[Task]:
        """Cut all rows into tasks of about as many."""
        tasks: list[Task] = []
        groups: list[RowGroup] = []
        for group in self._groups:
            groups.append(group)
            if sum(part.n_rows for part in groups) >= n_rows:
                tasks.append(tuple(groups))
                groups = []
        return [*tasks, tuple(groups)] if groups else tasks

    def first(self) -> pa.RecordBatch | None:
        """The first row; see `Files`."""
        for group in self._groups:
            for batch in self.batches((group,), ()):
                if batch.num_rows:
                    return batch.slice(0, 1)
        return None

    def batches(self, task: Task, unread: Collection[str]) -> Iterator[pa.RecordBatch]:
        """The rows of a task, as `Files` has them."""
        columns = []
        for field in self.columns:
            if clean_name(field.name) not in unread:
                columns += _light(field)

        for part in task:
            row = part.first_row
            address = pa.array([f"file://{quote(str(part.file))}"])
            for batch in read_group(part, columns, self._coded):
                n = batch.num_rows
                numbers = pa.array(np.arange(row, row + n))
                addresses = address.take(pa.array(np.zeros(n, dtype=np.int32)))
                yield batch.append_column(ROW, numbers).append_column(FILE, addresses)
                row += n


class LocalFiles(ParquetRows):
    """Parquet files of this machine, counted here.

    Parameters
    ----------
    path : str or sequence of str
        Files, or folders of them with all folders below.
    threads : int or None
        Tasks at once; one per core by default.
    progress : Progress
        Of each pass over the rows.

    Raises
    ------
    InputError
        A file is not there or cannot be read, or a column has several types.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        *,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> None:
        paths = [path] if isinstance(path, str) else [*path]
        files = [file for named in paths for file in _files_at(named)]
        super().__init__(", ".join(paths).rstrip("/"), files)
        self._threads = threads or available_cores()
        self._progress = progress

        # Each thread has a task at least.
        self._n_rows = sum(group.n_rows for group in self._groups)
        self._tasks = self.split(min(TASK, 1 + self._n_rows // self._threads))

    def scan(self, kernel: Kernel, unread: Collection[str] = ()) -> Iterable[pa.RecordBatch]:
        """Run a kernel in threads, whose libraries let others run meanwhile; see `Files`."""
        seen, lock = 0, threading.Lock()

        def watch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            nonlocal seen
            for batch in batches:
                yield batch
                with lock:
                    seen += batch.num_rows
                    self._progress("read images", seen, self._n_rows)

        def count(task: Task) -> list[pa.RecordBatch]:
            return [*kernel(watch(self.batches(task, unread)))]

        for parts in run_shared(self._threads, count, self._tasks):
            yield from parts

    def count_repeats(self, columns: Sequence[str]) -> int:
        """Count rows with a value of another row, by hashes of 64 bits; see `Files`."""
        return max(self._repeats(column) for column in columns)

    def _repeats(self, column: str) -> int:
        def hashes(task: Task) -> IntArray:
            parts = [np.empty(0, dtype=np.uint64)]
            for group in task:
                for batch in read_group(group, [column], ()):
                    values = batch[column].drop_null()
                    if pa.types.is_integer(values.type):
                        parts.append(values.to_numpy().astype(np.uint64))
                    else:
                        texts = values.cast(pa.string()).to_numpy(zero_copy_only=False)
                        parts.append(pd.util.hash_array(texts, categorize=False))
            return np.concatenate(parts)

        of_all = np.concatenate([*run_shared(self._threads, hashes, self._tasks)])
        of_all.sort()
        return int((np.diff(of_all) == 0).sum())


def _files_at(path: str) -> list[Path]:
    """A file, or the Parquet files of a folder."""
    named = Path(path)
    if named.is_file():
        return [named]
    files = sorted(file for file in named.rglob("*.parquet") if file.is_file())
    if not files:
        reason = "has no Parquet files" if named.is_dir() else "is not there"
        raise InputError(path, None, reason, "Name Parquet files, or their folder.")
    return files


def _stamp_files(files: Sequence[Path]) -> str | None:
    """A hash of where files are, how large they are and when they changed, by their file system.

    None where times of change are not kept, or to the second alone: a file might change twice
    within one. Taken before a file is read, it never stands for what was changed while it was.

    Raises
    ------
    InputError
        A file is not there.
    """
    if os.name != "posix":
        return None

    hashed = hashlib.sha256()
    for file in files:
        with _readable(file):
            status = file.stat()
        if status.st_ctime_ns % _SECOND_NS == 0:
            return None

        # The time of change, unlike that of the content, cannot be set by a program.
        seen = str(file.absolute()), status.st_dev, status.st_ino, status.st_size
        hashed.update(repr((*seen, status.st_mtime_ns, status.st_ctime_ns)).encode())
    return hashed.hexdigest()


def _metadata(file: Path) -> pq.FileMetaData:
    with _readable(file):
        return pq.read_metadata(file)


def _row_groups(file: Path, metadata: pq.FileMetaData) -> Iterator[RowGroup]:
    """Each row group of a file."""
    first_row = 0
    for group in range(metadata.num_row_groups):
        n_rows = metadata.row_group(group).num_rows
        yield RowGroup(file, group, first_row, n_rows)
        first_row += n_rows


def _common_schema(footers: Mapping[Path, pq.FileMetaData], path: str) -> pa.Schema:
    """The schema of all files; InputError where a column has several types, or is missing."""
    first_file, first = None, pa.schema([])
    for file, metadata in footers.items():
        schema = metadata.schema.to_arrow_schema()
        if first_file is None:
            first_file, first = file, schema
        for field in first:
            place = schema.get_field_index(field.name)
            if place < 0:
                reason = f"there is no column {field.name!r}, as in {first_file}"
                raise InputError(str(file), None, reason, f"Write it in all files of {path}.")
            if (kind := schema.field(place).type) != field.type:
                reason = f"the column {field.name!r} is {kind}, and {field.type} in {first_file}"
                remedy = f"Write it as one type in all files of {path}."
                raise InputError(str(file), None, reason, remedy)
    return first


def read_group(
    group: RowGroup, columns: Sequence[str], coded: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Read columns of a row group, those of `coded` as dictionaries."""
    # Arrow cannot join the dictionaries of two row groups within a list.
    with _readable(group.file), pq.ParquetFile(group.file, read_dictionary=[*coded]) as file:
        yield from file.iter_batches(BATCH, [group.number], columns, use_threads=False)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Raise InputError for a file that is no whole Parquet file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = f"cannot be read as Parquet ({str(error).splitlines()[0]})"
        raise InputError(str(file), None, reason, "Write the file again.") from error


def _light(field: pa.Field) -> list[str]:
    """A column without pixels, as paths of Parquet; none where it has nothing else."""
    if not pa.types.is_struct(field.type):
        return [] if _is_binary(field.type) else [field.name]
    return [f"{field.name}.{part.name}" for part in field.type if not _is_binary(part.type)]


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _repeated_texts(metadata: pq.FileMetaData) -> list[str]:
    """Paths of texts that are stored as codes of a dictionary, as names are and ids are not."""
    if not metadata.num_row_groups:
        return []

    group = metadata.row_group(0)
    columns = map(group.column, range(group.num_columns))
    return [
        column.path_in_schema
        for column in columns
        if column.physical_type == "BYTE_ARRAY"
        # A code takes four bytes at most, and a text takes four for its length alone.
        and column.total_uncompressed_size <= 4 * column.num_values
    ]
