"""Parquet files; names, integers and booleans become text."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graph.progress import Progress
from ingest.frames import TEXT
from ingest.problems import Problems
from ingest.tables.loading import Table


@dataclass(frozen=True)
class Parquet:
    """Integers and booleans become text; floats and lists keep their type."""

    description: str = "Apache Parquet"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether the file has the magic bytes of Parquet."""
        return head.startswith(b"PAR1")

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all columns of usable types; images, for example, are left out."""
        with readable(problems):
            file = pq.ParquetFile(path)
            schema = file.schema_arrow
            usable = [name for name in schema.names if is_usable(schema.field(name).type)]
            progress("read", 0, file.metadata.num_rows)
            loaded = file.read(columns=usable)
        check_names(schema.names, problems)
        columns = {name: plain_column(loaded[name].combine_chunks()) for name in usable}
        unusable = {
            name: str(schema.field(name).type) for name in schema.names if name not in columns
        }
        progress("read", loaded.num_rows, loaded.num_rows)
        return Table(problems, columns, loaded.num_rows, lambda row: f"row {row + 1}", unusable)


@contextmanager
def readable(problems: Problems) -> Iterator[None]:
    """Raise InputError if Arrow cannot read the file in a ``with`` block."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
        reason = f"is no Parquet file that can be read ({line})"
        raise problems.fatal(reason, "Write or download it again.") from None


def check_names(names: list[str], problems: Problems) -> None:
    """Raise InputError if two columns have the same name."""
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise problems.fatal(
            f"two columns are named {min(duplicates)!r}", "Give each a name of its own."
        )


def is_usable(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold names, numbers or concepts."""
    if pa.types.is_dictionary(kind):
        return is_usable(kind.value_type)
    if is_list(kind):
        value = kind.value_type
        return pa.types.is_struct(value) or pa.types.is_null(value) or _is_text(value)
    return (
        _is_text(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    text: bool = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return text or bool(pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is any of Arrow's list types."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def plain_column(column: pa.Array) -> pa.Array:
    """Convert a usable column to text, floats, or lists of text or structures."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if is_list(kind):
        value = kind.value_type
        return pc.cast(column, pa.large_list(value if pa.types.is_struct(value) else TEXT))
    if pa.types.is_floating(kind):
        return pc.cast(column, pa.float64())
    return pc.cast(column, TEXT)
