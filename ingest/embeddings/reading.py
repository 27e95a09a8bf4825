"""Read embeddings of images from Parquet or NumPy files."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graph.errors import InputError
from ingest.embeddings.cosine import Vectors, unit_vectors
from ingest.reader import read_text


def read_embeddings(
    file: Path,
    ids: Path | None = None,
    *,
    id_column: str = "id",
    vector_column: str | None = None,
) -> tuple[list[str], Vectors]:
    """Read the ids of images, and their vectors, of length 1.

    Parameters
    ----------
    file : Path
        Parquet with a column of ids and one of lists of numbers, or a NumPy array (``.npy``) of a
        row an image.
    ids : Path or None
        Of a NumPy array: a text file with the id of each row, one a line.
    vector_column : str or None
        Of Parquet; by default its only column of lists.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or has rows of other lengths, values that are no
        finite numbers, or an id twice.
    """
    try:
        if file.suffix == ".npy":
            names, vectors = _from_numpy(file, ids)
        else:
            names, vectors = _from_parquet(file, id_column, vector_column)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        remedy = "Give Parquet with ids and vectors, or a NumPy array and a file of ids."
        raise InputError(str(file), None, f"it cannot be read ({reason})", remedy) from error
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(
            str(file), f"row {row}", "a value is not a finite number", "Leave the image out."
        )
    if len(set(names)) < len(names):
        known: set[str] = set()
        twice = next(name for name in names if name in known or known.add(name))  # type: ignore[func-returns-value]
        raise InputError(str(file), None, f"image {twice!r} is there twice", "Keep one of them.")
    return names, unit_vectors(vectors)


def _from_numpy(file: Path, ids: Path | None) -> tuple[list[str], Vectors]:
    if ids is None:
        raise InputError(
            str(file), None, "a NumPy array does not say which image a row is of",
            "Name a text file with the ids as well, one a line.",
        )  # fmt: skip
    vectors = np.load(file, allow_pickle=False)
    names = read_text(ids).splitlines()
    if vectors.ndim != 2 or len(vectors) != len(names) or vectors.dtype.kind not in "fiu":
        raise InputError(
            str(file), None, f"its shape is {vectors.shape}, of {vectors.dtype}, and there are "
            f"{len(names):,} ids", "Give a row of numbers for each id.",
        )  # fmt: skip
    return names, vectors


def _from_parquet(file: Path, id_column: str, column: str | None) -> tuple[list[str], Vectors]:
    schema = pq.read_schema(file)
    lists = [
        field.name
        for field in schema
        if pa.types.is_list(field.type)
        or pa.types.is_large_list(field.type)
        or pa.types.is_fixed_size_list(field.type)
    ]
    column = lists[0] if column is None and len(lists) == 1 else column
    if column not in lists or id_column not in schema.names:
        raise InputError(
            str(file), None,
            f"its columns are {', '.join(schema.names)}; of ids: {id_column}, of lists: "
            f"{', '.join(lists) or 'none'}",
            "Name the columns of ids and of vectors.",
        )  # fmt: skip
    table = pq.read_table(file, columns=[id_column, column])
    rows = table[column].combine_chunks()
    lengths = set(rows.value_lengths().to_pylist())
    if len(lengths) > 1 or None in lengths or table[id_column].null_count:
        raise InputError(
            str(file), None, "its vectors are not all of one length, or one is missing",
            "Leave such images out.",
        )  # fmt: skip
    width = next(iter(lengths), 0)
    vectors = rows.flatten().to_numpy(zero_copy_only=False).reshape(len(table), width)
    return [str(name) for name in table[id_column].to_pylist()], vectors
