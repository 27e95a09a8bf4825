"""Parquet files; names, integers, booleans, decimals and dates become text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cobalance.base import InputError, IntArray, Progress
from cobalance.ingest.frames import TEXT
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.loading import (
    CHUNK,
    CHUNK_CELLS,
    EMPTY_CELL,
    Table,
    column_names,
    take_columns,
)
from cobalance.ingest.trees import check_unfolding, most_bytes

_BUFFER_BYTES = 1 << 16  # without a buffer a column that is opened is read whole


def load_rows(path: Path, problems: Problems, progress: Progress, most: int | None) -> Table:
    """Load columns of usable types, all rows or the first, batch by batch within the limits.

    What the file says of itself is checked before it is read. A small file may hold many equal
    rows, so that text is read as codes, and written out only where it fits.

    Raises
    ------
    InputError
        It is no Parquet file, or it is beyond a limit.
    """
    with readable(problems), pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
        schema = file.schema_arrow
        names = column_names(schema.names, problems)
        kinds = dict(zip(names, schema.types, strict=True))
        named = zip(names, schema.names, strict=True)
        usable = {name: raw for name, raw in named if is_usable(kinds[name])}

        n_rows = file.metadata.num_rows
        if most is None:
            problems.within("rows", n_rows)
        n_groups = file.num_row_groups if most is None else min(1, file.num_row_groups)
        stored_names, usable_names = list(usable.values()), list(usable)
        budget = _Budget(problems)
        coded = _check_sizes(file, stored_names, n_groups, budget.check)

    progress("read", 0, n_rows)
    size = most or max(1, min(CHUNK, CHUNK_CELLS // max(len(usable), 1)))

    pieces, seen = [], 0
    with readable(problems), pq.ParquetFile(path, read_dictionary=coded) as file:
        # Arrow cannot join the dictionaries of two row groups within a list.
        for group in range(n_groups) if stored_names else ():
            for batch in file.iter_batches(size, [group], stored_names):
                plain = [plain_column(write_out(column, budget)) for column in batch.columns]
                pieces.append(pa.Table.from_arrays(plain, names=usable_names))
                budget.spend(pieces[-1].nbytes)
                seen += batch.num_rows
                problems.within("rows", seen)
                progress("read", seen, n_rows)
                if most is not None:
                    break

    empty = {name: plain_column(pa.array([], kinds[name])) for name in usable_names}
    joined = pa.concat_tables(pieces or [pa.table(empty)])
    pieces.clear()
    columns = take_columns(joined, usable_names)
    unusable = {name: str(kind) for name, kind in kinds.items() if name not in columns}
    rows = seen if stored_names else n_rows
    return Table(problems, columns, rows, lambda row: f"row {row + 1}", unusable)


def spread_rows(n_rows: int, most: int) -> IntArray:
    """At most so many row numbers: runs at the start, in the middle and at the end, or all.

    Runs, as rows that follow each other may be of one image.

    Examples
    --------
    >>> spread_rows(100, 6).tolist()
    [0, 1, 49, 50, 98, 99]
    """
    if n_rows <= most:
        return np.arange(n_rows)
    run = most // 3
    starts = np.array([0, (n_rows - run) // 2, n_rows - run])
    return (starts[:, None] + np.arange(run)).ravel()


def write_sample(path: Path, sample: Path, problems: Problems, most: int) -> bool:
    """Write some rows of a Parquet file, as `spread_rows` has them; return whether these are all.

    A file that is beyond a limit, or has values of other types than tables have, gives its first
    row group.

    Raises
    ------
    InputError
        It is no Parquet file.
    """
    with readable(problems):
        metadata, schema = pq.read_metadata(path), pq.read_schema(path)
    rows = spread_rows(metadata.num_rows, most)
    ends = list(accumulate(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)))
    records: list[dict[str, Any]] = []

    with suppress(InputError, pa.ArrowException):
        for group, end in enumerate(ends):
            start = end - metadata.row_group(group).num_rows
            own_rows = rows[(rows >= start) & (rows < end)]
            # Groups without any of the rows are not read.
            for batch in row_batches(path, problems, pixels=False, groups=[group][: len(own_rows)]):
                here = own_rows[(own_rows >= start) & (own_rows < start + batch.num_rows)] - start
                records += batch.take(pa.array(here, pa.int64())).to_pylist()
                start += batch.num_rows

        table = pa.Table.from_pylist(records).replace_schema_metadata(schema.metadata)
        if len(set(schema.names)) == len(schema.names) and table.num_rows == len(rows) > 0:
            pq.write_table(table, sample)
            return len(rows) == metadata.num_rows
    sample.symlink_to(path.resolve())
    return metadata.num_rows <= most


def row_batches(
    path: Path | IO[bytes],
    problems: Problems,
    *,
    pixels: bool = True,
    groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read rows with columns of any type, some at a time and within the limits.

    Text is in codes, as in `load_rows`, whose errors are raised. Without `pixels` bytes that are
    no text are left out, within structures, too. `groups` are the row groups to read, if not all.
    """
    with readable(problems), pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
        problems.within("rows", file.metadata.num_rows)
        n_groups, leaves = file.num_row_groups, map(file.schema.column, range(len(file.schema)))
        names = [leaf.path for leaf in leaves if pixels or not _is_bytes(leaf)]
        coded = _check_sizes(file, names, n_groups, _Budget(problems).check)
    with readable(problems), pq.ParquetFile(path, read_dictionary=coded) as file:
        for group in range(n_groups) if groups is None else groups:
            # A picture may have megabytes.
            yield from file.iter_batches(100 if pixels else 1_000, [group], names)


def _is_bytes(leaf: pq.ColumnSchema) -> bool:
    return bool(leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type == "NONE")


def read_unlimited(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a file that is no table of annotations, so that only its own size limits it.

    Raises
    ------
    InputError
        It unfolds to more than an archive of its size may.
    pyarrow.ArrowException, OSError
        It cannot be read.
    """
    check = partial(check_unfolding, path, most_bytes(path))
    with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
        names = columns or file.schema_arrow.names
        coded = _check_sizes(file, names, file.num_row_groups, check)
    coded = [name for name in coded if "." not in name]

    table = pq.read_table(path, columns=columns, read_dictionary=coded)
    check(sum(unfolded_bytes(chunk) for column in table.columns for chunk in column.chunks))

    kinds = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(kinds))


def unfolded_bytes(column: pa.Array, each: int = 0) -> float:
    """Bytes that a column takes with its codes written out.

    Infinite for types that may show one value many times.

    Parameters
    ----------
    each : int
        Bytes that are added for every value, in lists and structures, too.
    """
    kind, added = column.type, each * len(column)
    if pa.types.is_struct(kind):
        return added + sum(unfolded_bytes(part, each) for part in column.flatten())
    if is_list_type(kind):
        return added + unfolded_bytes(column.flatten(), each)
    if pa.types.is_dictionary(kind) and pa.types.is_binary(kind.value_type) | is_text_type(kind):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return added + int(pc.sum(lengths).as_py() or 0)
    if pa.types.is_nested(kind) or "view" in str(kind):
        return inf
    return added + int(column.nbytes)


class _Budget:
    """Bytes that the columns of a file take in memory."""

    def __init__(self, problems: Problems) -> None:
        self._problems, self._spent = problems, 0

    def check(self, more: float) -> None:
        self._problems.within("table_mb", self._spent + more)

    def spend(self, more: int) -> None:
        self.check(more)
        self._spent += more


def _check_sizes(
    file: pq.ParquetFile, columns: Iterable[str], n_groups: int, check: Callable[[int], None]
) -> list[str]:
    """Check the least memory of some columns; paths of text, to be read as codes.

    Reading no rows of a column raises where its metadata is broken; ``column`` would abort.
    """
    wanted_columns, smallest = set(columns), 0
    paths = [file.schema.column(number).path for number in range(len(file.schema))]

    # As Arrow finds them: a name of a column may have a full stop.
    leaves = [
        number
        for number, path in enumerate(paths)
        if not wanted_columns.isdisjoint(accumulate(path.split("."), "{}.{}".format))
    ]
    if not leaves:
        return []
    for number in range(n_groups):
        list(file.reader.iter_batches(0, [number], leaves))
        parts = map(file.metadata.row_group(number).column, leaves)
        smallest += sum(
            max(part.total_uncompressed_size, EMPTY_CELL * part.num_values) for part in parts
        )
        check(smallest)

    stored = map(file.schema.column, leaves)
    return [leaf.path for leaf in stored if leaf.physical_type == "BYTE_ARRAY"]


def write_out(column: pa.Array, budget: _Budget) -> pa.Array:
    """Replace codes by their text, in structures, too, if it is within the budget.

    Lists of text stay codes: a list of names is the greater part of most files.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        if is_text_type(kind.value_type):
            # That checks that it is UTF-8.
            column.dictionary.validate(full=True)
            budget.check(unfolded_bytes(column, EMPTY_CELL))
        return column.dictionary_decode()

    if is_list_type(kind):
        sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        values = pc.list_flatten(column)
        if pa.types.is_dictionary(values.type):
            values.dictionary.validate(full=True)
        else:
            values = write_out(values, budget)

        # Offsets are written anew, as the items of null lists are left out.
        offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
        return pa.LargeListArray.from_arrays(offsets, values, mask=column.is_null())

    if pa.types.is_struct(kind):
        parts = [write_out(part, budget) for part in column.flatten()]
        return pa.StructArray.from_arrays(parts, kind.names, mask=column.is_null())
    return column


@contextmanager
def readable(problems: Problems) -> Iterator[None]:
    """Raise InputError if Arrow cannot read the file in a ``with`` block."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
        raise problems.fatal(
            f"is no Parquet file that can be read ({line})", "Write or download it again."
        ) from None


def is_usable(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold names, numbers, dates or concepts."""
    if pa.types.is_dictionary(kind):
        return is_usable(kind.value_type)
    if is_list_type(kind):
        value = kind.value_type
        return pa.types.is_struct(value) or pa.types.is_null(value) or is_text_type(value)
    return (
        is_text_type(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_time(kind)
        or pa.types.is_null(kind)
    )


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a type is any of Arrow's texts, or a dictionary of these."""
    if pa.types.is_dictionary(kind):
        return is_text_type(kind.value_type)
    text: bool = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return text or bool(pa.types.is_string_view(kind))


def is_list_type(kind: pa.DataType) -> bool:
    """Whether a type is any of Arrow's list types."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def plain_column(column: pa.Array) -> pa.Array:
    """Convert a usable column to text, floats, or lists of text, codes of text or structures."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()

    kind = column.type
    if is_list_type(kind):
        value = kind.value_type
        if pa.types.is_dictionary(value):
            value = pa.dictionary(pa.int32(), TEXT)
        elif not pa.types.is_struct(value):
            value = TEXT
        return pc.cast(column, pa.large_list(value))

    if pa.types.is_floating(kind):
        return pc.cast(column, pa.float64())
    return pc.cast(column, TEXT)
