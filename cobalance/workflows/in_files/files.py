"""What an engine has to do to count Parquet files."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from cobalance.counting import Kernel

ROW, FILE = "row_index", "file_path"
"""The last columns of a batch: a row's number in its file, and the file's address."""


class Files(Protocol):
    """Parquet files with a row for each image, as an engine reads them.

    Parameters
    ----------
    path : str
        All of them, as a person wrote it.
    features : mapping of str to Any
        Of a Hugging Face dataset, by column; empty for other files.
    columns : Schema
        What the files hold, pixels included.
    stamp : str or None
        Another one as soon as a file changes; None where that cannot be told.
    """

    path: str
    features: Mapping[str, Any]
    columns: pa.Schema
    stamp: str | None

    def first(self) -> pa.RecordBatch | None:
        """The first row, without pixels; None where there is no row."""

    def scan(self, kernel: Kernel, unread: Collection[str] = ()) -> Iterable[pa.RecordBatch]:
        """Run a kernel over all rows, without pixels and the columns that are left out.

        Batches end in the columns `ROW` and `FILE`.
        """

    def count_repeats(self, columns: Sequence[str]) -> int:
        """Rows that have, in one of these columns, a value of another row; most of any column."""
