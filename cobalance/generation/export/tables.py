"""Parquet tables of an export, with the meaning of each column for the data card and Croissant."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.generation.export.staging import Staging

_GROUP_ROWS = 10_000


@dataclass(frozen=True)
class Column:
    """Type and meaning of a column."""

    type: pa.DataType
    meaning: str


TEXT_COLUMNS = {
    "captions": Column(
        pa.list_(pa.string()), "What is written about it; of a generated image, edited."
    ),
    "source_captions": Column(
        pa.list_(pa.string()), "Of a generated image with captions, these before they were edited."
    ),
    "license": Column(
        pa.string(),
        "Licence of the image, or of the one that it was made from; behind a semicolon that of the "
        "one whose object is pasted into it, if it is another licence.",
    ),
    "license_url": Column(pa.string(), "Where that licence is; of two in the same order."),
    "attribution": Column(
        pa.string(),
        "Where the image, or the one that it was made from, is from; behind a semicolon the same "
        "of the one whose object is pasted into it.",
    ),
}
"""Columns of `cobalance.generation.export.images.image.ImageText`."""


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of an export.

    Parameters
    ----------
    name : str
        Its path in the folder.
    meaning : str
        What it contains, as a sentence.
    key : str
        The column that identifies a row.
    """

    name: str
    meaning: str
    columns: Mapping[str, Column]
    key: str = "image_id"


class TableWriter:
    """Buffers rows and writes them in groups."""

    def __init__(self, parquet: pq.ParquetWriter) -> None:
        self._parquet, self._rows = parquet, list[Mapping[str, Any]]()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row: a value for each column that has one."""
        self._rows.append(row)
        if len(self._rows) >= _GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, self._parquet.schema))
            self._rows = []


@contextmanager
def table_writer(staging: Staging, table: TableFile) -> Iterator[TableWriter]:
    """Open a table of an export for writing."""
    schema = pa.schema([(name, column.type) for name, column in table.columns.items()])

    with (
        staging.open(table.name) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as parquet,
    ):
        writer = TableWriter(parquet)
        yield writer
        writer.flush()
