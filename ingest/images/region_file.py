"""Parquet file of a dataset's regions, sorted by image id and indexed by row group.

No image spans two row groups, and the file's metadata has the last id of each group, so that the
regions of a few images are read without the others. Each region has a digest of all regions of its
image, by which a write finds the differences without reading the regions.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from graph.errors import InputError, Setting, StoreError
from graph.private_files import make_folder
from graph.progress import Progress
from ingest.frames import NUMBERS

OUTLINE = "segmentation"
CROWD = "crowd"
SIZE = ("width_px", "height_px")
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("concept", pa.string()),
        *((name, pa.float64()) for name in NUMBERS),
        (OUTLINE, pa.string()),
        (CROWD, pa.bool_()),
        *((f"image_{name}", pa.int32()) for name in SIZE),
    ]
)
DIGEST = "image_digest"
STORED = SCHEMA.append(pa.field(DIGEST, pa.int64()))
_OF_FEW_VALUES = [name for name in STORED.names if name not in (*NUMBERS, OUTLINE, CROWD)]
GROUP_ROWS = 512
"""Approximate rows per group: fewer make a file slower to open, more make it slower to read."""

_LAST_IDS = b"cobalance.last_ids"


@dataclass(frozen=True, eq=False)
class RegionFile:
    """An open region file; replacing the file on disk does not affect it."""

    path: Path
    file: BinaryIO
    footer: pq.FileMetaData
    last_ids: list[str]

    def groups(self) -> Iterator[tuple[pa.Table, str]]:
        """Read all row groups, each with the id of its last image."""
        for group, last in enumerate(self.last_ids):
            yield self._read([group], STORED), last

    def read(self, groups: list[int]) -> pa.Table:
        """Read the regions of some row groups."""
        return self._read(groups, SCHEMA)

    def digests(self) -> dict[str, int | None]:
        """Digest of each image; None in files of earlier versions, which have none."""
        schema = pa.schema([SCHEMA.field("id"), STORED.field(DIGEST)])
        table = self._read(list(range(len(self.last_ids))), schema)
        found = table.group_by("id").aggregate([(DIGEST, "min")])  # it is the same in each row
        columns = found["id"].to_pylist(), found[f"{DIGEST}_min"].to_pylist()
        return dict(zip(*columns, strict=True))

    def _read(self, groups: list[int], schema: pa.Schema) -> pa.Table:
        if not groups:
            return schema.empty_table()
        try:
            parquet = pq.ParquetFile(self.file, metadata=self.footer)
            table = parquet.read_row_groups(groups, columns=schema.names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from error
        # Earlier versions of the program wrote neither.
        for name, value in ((DIGEST, None), (CROWD, False)):
            if name in schema.names and name not in table.column_names:
                field = schema.field(name)
                values = pa.repeat(pa.scalar(value, field.type), len(table))
                table = table.append_column(field, values)
        return table.select(schema.names)


# Footers of recently read files: reading one takes longer than reading a dozen row groups.
_footers: dict[Path, tuple[object, pq.FileMetaData, list[str]]] = {}


def open_regions(path: Path) -> RegionFile | None:
    """Open a region file; None if there is none."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        status = os.fstat(file.fileno())
        stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        known = _footers.get(path)
        if known is None or known[0] != stamp:
            footer = pq.read_metadata(file)
            known = stamp, footer, msgspec.json.decode(footer.metadata[_LAST_IDS], type=list[str])
            if len(_footers) >= 8:
                _footers.clear()
            _footers[path] = known
    except (pa.ArrowException, OSError, KeyError, TypeError, msgspec.DecodeError) as error:
        file.close()
        raise _unreadable(path, error) from error
    return RegionFile(path, file, *known[1:])


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = f"is no file of regions ({error})"
    return InputError(str(path), None, reason, "Delete it, and ingest the dataset again.")


def write_tables(path: Path, tables: Iterable[pa.Table], total: int, progress: Progress) -> int:
    """Write one row group per table; returns the number of rows."""
    n_rows, last_ids = 0, []
    progress("write regions", 0, total)
    with (
        path.open("wb") as file,
        pq.ParquetWriter(
            file, STORED, compression="zstd", compression_level=1, write_statistics=False,
            use_dictionary=_OF_FEW_VALUES,
        ) as writer,
    ):  # fmt: skip
        for table in tables:
            if not len(table):
                continue
            writer.write_table(table, row_group_size=len(table))
            last_ids.append(table["id"][-1].as_py())
            n_rows += len(table)
            progress("write regions", min(n_rows, total), total)
        writer.add_key_value_metadata({_LAST_IDS: msgspec.json.encode(last_ids)})
        writer.close()
        file.flush()
        os.fsync(file.fileno())
    return n_rows


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Lock the folder against other writers, and remove temporary files of killed ones."""
    try:
        make_folder(folder)
        with FileLock(folder / ".lock"):
            for left in folder.glob(".*.tmp"):
                left.unlink(missing_ok=True)
            yield
    except OSError as error:
        raise StoreError(
            f"{folder}: the regions cannot be written ({error.strerror or error}). Make room "
            "there, or set ",
            Setting("home"),
            " to another folder.",
        ) from error
