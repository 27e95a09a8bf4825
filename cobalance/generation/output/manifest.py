"""The manifest: a Parquet table of candidates, one row each, with their provenance.

The same rows give the same bytes: rows are ordered by candidate and columns by the schema, and the
file holds neither the time nor the place of writing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.base import DataError

_TEXT = pa.string()
_TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))

MANIFEST_SCHEMA = pa.schema(
    [
        pa.field("candidate", _TEXT, nullable=False),  # job/query/index
        pa.field("job", _TEXT, nullable=False),
        pa.field("query", pa.int64(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("class", _TEXT, nullable=False),
        pa.field("concepts", _TEXTS, nullable=False),
        pa.field("prompt", _TEXT, nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("verdict", _TEXT, nullable=False),
        pa.field("reason", _TEXT),
        pa.field("rank", pa.int32()),  # among the candidates of its query, from 1
        pa.field("path", _TEXT),  # relative to the output folder
        pa.field("mask_path", _TEXT),
        pa.field("width_px", pa.int32()),
        pa.field("height_px", pa.int32()),
        pa.field("sha256", _TEXT),
        pa.field("source_image", _TEXT),
        pa.field("source_uri", _TEXT),
        pa.field("source_class", _TEXT),  # of an image that was edited
        pa.field("captions", _TEXTS),  # that image's, edited
        pa.field("mask_sha256", _TEXT),
        pa.field("chunk", _TEXT),
        pa.field("chunk_items", _TEXTS),
        pa.field("backend", _TEXT),
        pa.field("model", _TEXT),
        pa.field("revision", _TEXT),
        pa.field("weights_sha256", _TEXT),
        pa.field("digital_source_type", _TEXT),
        pa.field("settings", _TEXT),  # JSON
        pa.field("scores", _TEXT),  # JSON: filter -> score, accepted, reason, details
        pa.field("software", _TEXT),  # JSON: package -> version
        pa.field("made_at", pa.timestamp("us", tz="UTC")),
        pa.field("decided_by", _TEXT),
    ]
)


def manifest_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Convert rows to a frame of the schema's columns, in order of candidate.

    Lists are lists, missing text is None, missing numbers are NA in Int64 columns, and times are
    timestamps in UTC. In the rows missing values may be None, NaN or NaT, times ISO 8601 text, and
    further values are ignored.

    Raises
    ------
    DataError
        A column is missing, a value has the wrong type, or two rows have the same candidate.

    Examples
    --------
    >>> manifest_frame([]).columns[:3].tolist()
    ['candidate', 'job', 'query']
    """
    return _frame(_table(rows))


def write_rows(batches: Iterable[Sequence[Mapping[str, Any]]], file: Any) -> None:
    """Write rows as Parquet to an open file, a row group a batch; the same rows, the same bytes.

    Parameters
    ----------
    batches : iterable of sequence of mapping
        As `manifest_frame` takes them, in order of candidate; each is in order of candidate in the
        file.
    """
    with pq.ParquetWriter(file, MANIFEST_SCHEMA, compression="zstd") as writer:
        for rows in batches:
            writer.write_table(_table(rows))


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Convert rows to a table of the schema, in order of candidate."""
    names = None if rows else MANIFEST_SCHEMA.names
    # Without dtype=object a column of whole numbers and None becomes one of floats.
    frame = pd.DataFrame(list(rows), columns=names, dtype=object)

    missing = [name for name in MANIFEST_SCHEMA.names if name not in frame.columns]
    if missing:
        raise DataError(
            f"The manifest's rows have no {', '.join(missing)}. Add the missing columns."
        )
    repeated = frame["candidate"][frame["candidate"].duplicated()]
    if len(repeated):
        raise DataError(
            f"Two rows of the manifest have the candidate {repeated.iloc[0]!r}. Keep one of them."
        )

    ordered = frame.sort_values("candidate", kind="stable")
    columns = [_column(ordered[field.name], field) for field in MANIFEST_SCHEMA]
    return pa.Table.from_arrays(columns, schema=MANIFEST_SCHEMA)


def _column(values: "pd.Series[Any]", field: pa.Field) -> pa.Array:
    """Convert a column to Arrow; DataError for values that do not fit the schema."""
    items = list(map(_plain, values))
    try:
        if pa.types.is_timestamp(field.type):
            items = [None if item is None else _utc(pd.Timestamp(item)) for item in items]
        column = pa.array(items, field.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"The column {field.name} of the manifest has a value that is not {field.type} "
            f"({error}). Correct it."
        ) from error

    if column.null_count and not field.nullable:
        raise DataError(f"A row of the manifest has no {field.name}. Add it.")
    return column


def _utc(time: pd.Timestamp) -> pd.Timestamp:
    return time.tz_localize("UTC") if time.tzinfo is None else time.tz_convert("UTC")


def _plain(value: Any) -> Any:
    """Convert a value for Arrow: lists from any sequence, None for anything missing."""
    if isinstance(value, str):
        return value
    if hasattr(value, "__iter__"):
        return list(map(str, value))
    return None if pd.isna(value) else value


def _frame(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a frame whose integers may be missing."""
    columns: dict[str, Any] = {}

    for field in MANIFEST_SCHEMA:
        column = table[field.name]
        if pa.types.is_integer(field.type):
            # numpy's integers cannot be missing.
            kind = "Int64" if field.nullable else "int64"
            columns[field.name] = pd.array(column.to_pylist(), dtype=kind)
        elif pa.types.is_timestamp(field.type):
            columns[field.name] = column.to_pandas()
        else:
            columns[field.name] = pd.Series(column.to_pylist(), dtype=object)
    return pd.DataFrame(columns)
