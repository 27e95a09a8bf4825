"""Read embeddings of images from Parquet, NumPy or CSV files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from cobalance.base import InputError
from cobalance.ingest.embeddings.similarity import Vectors, unit_vectors
from cobalance.ingest.names import without
from cobalance.ingest.reader import read_start, read_text
from cobalance.ingest.tables.parquet import is_list_type, read_unlimited
from cobalance.ingest.trees import open_tree

SUFFIXES = (".parquet", ".npz", ".npy", ".csv")
"""Of files that hold embeddings; any other is read as Parquet."""
_UNREADABLE = (
    OSError, ValueError, EOFError, MemoryError, RuntimeError, pa.ArrowException,
)  # fmt: skip


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
        Parquet with a column of ids and one of lists of numbers; NumPy arrays (``.npz``) of ids
        and of a row an image; one array (``.npy``) of a row an image; or CSV with a column of ids
        and others of numbers, all of which are the vector. Objects in NumPy files, which would
        be unpickled, are refused.
    ids : Path or None
        Of ``.npy``: a text file with the id of each row, one a line.
    id_column : str
        Column, or array of ``.npz``, with the ids.
    vector_column : str or None
        Of Parquet and ``.npz``; by default the only column of lists, or array of rows.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or has rows of other lengths, values that are no
        finite numbers, or an id twice.
    """
    read_start(file)

    try:
        suffix = file.suffix.lower()
        if suffix == ".npy":
            names, vectors = _from_numpy(file, ids)
        elif suffix == ".npz":
            names, vectors = _from_arrays(file, id_column, vector_column)
        elif suffix == ".csv":
            names, vectors = _from_csv(file, id_column)
        else:
            names, vectors = _from_parquet(file, id_column, vector_column)
    except _UNREADABLE as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            str(file),
            None,
            f"it cannot be read ({reason})",
            "Give ids and vectors as Parquet, .npz or CSV, or a .npy array and a file of ids.",
        ) from error
    return names, check_vectors(str(file), names, vectors)


def check_vectors(source: str, names: Sequence[str], vectors: npt.ArrayLike) -> Vectors:
    """Check the vectors of images, of shape (n_images, width), and scale them to length 1.

    `names` are the images' ids; `source` says where they are from, for errors.

    Raises
    ------
    InputError
        There are none, or not one of each image; a value is no finite number; an id is there twice.
    """
    try:
        array = np.asarray(vectors)
    except ValueError as error:
        reason, remedy = "its rows are not of one length", "Give a row of numbers for each id."
        raise InputError(source, None, reason, remedy) from error

    if array.ndim != 2 or len(array) != len(names) or array.dtype.kind not in "fiu":
        raise InputError(
            source, None, f"its shape is {array.shape}, of {array.dtype}, and there are "
            f"{len(names):,} ids", "Give a row of numbers for each id.",
        )  # fmt: skip

    if not array.size:
        raise InputError(source, None, "it has no vectors", "Give a row for each image.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InputError(
            source, f"row {row}", "a value is not a finite number", "Leave the image out."
        )

    twice, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(source, None, f"image {twice!r} is there twice", "Keep one of them.")
    return unit_vectors(array)


def _from_numpy(file: Path, ids: Path | None) -> tuple[list[str], Vectors]:
    if ids is None:
        raise InputError(
            str(file), None, "a NumPy array does not say which image a row is of",
            "Name a text file with the ids as well, one a line.",
        )  # fmt: skip
    return read_text(ids).splitlines(), np.load(file, allow_pickle=False)


def read_arrays(file: Path) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a ``.npz`` file by name, within the limits of `FileTree`; no objects.

    Raises
    ------
    InputError, ValueError
        It cannot be read.
    """
    if not is_zipfile(file):
        raise ValueError("it is no archive of arrays")
    arrays = {}
    with open_tree(file) as tree:
        for name in tree.names:
            with tree.open(name) as member:
                array = np.lib.format.read_array(member, allow_pickle=False)
            arrays[name.removesuffix(".npy")] = array
    return arrays


def _from_arrays(file: Path, id_name: str, name: str | None) -> tuple[list[str], Vectors]:
    arrays = read_arrays(file)
    rows = [key for key, array in arrays.items() if array.ndim == 2]
    if name is None and len(rows) == 1:
        (name,) = rows
    ids = arrays.get(id_name, np.empty(0))

    if name not in rows or ids.ndim != 1 or ids.dtype.kind not in "Uiu":
        described = ", ".join(
            f"{key} {array.shape} of {array.dtype}" for key, array in arrays.items()
        )
        raise InputError(
            str(file), None,
            f"its arrays are {described or 'none'}; of ids: {id_name}, of rows: "
            f"{', '.join(rows) or 'none'}",
            "Name the arrays of ids (text or whole numbers) and of vectors.",
        )  # fmt: skip
    return list(map(str, ids)), arrays[name]


def _from_csv(file: Path, id_column: str) -> tuple[list[str], Vectors]:
    # Ids such as 0012 or NA stay text.
    texts = pc.ConvertOptions(column_types={id_column: pa.string()}, strings_can_be_null=False)
    table = pc.read_csv(file, convert_options=texts)
    columns = without(table.column_names, [id_column])
    words = [
        name
        for name in columns
        if not (pa.types.is_integer(table[name].type) or pa.types.is_floating(table[name].type))
    ]

    if id_column not in table.column_names or len(columns) != table.num_columns - 1 or words:
        raise InputError(
            str(file), None,
            f"its columns are {', '.join(table.column_names[:8])}; of ids: {id_column}, not of "
            f"numbers: {', '.join(words[:8]) or 'none'}",
            "Name the column of ids and leave out others that are not of numbers.",
        )  # fmt: skip

    vectors = np.empty((len(table), len(columns)), dtype=np.float32)
    for column, name in enumerate(columns):
        vectors[:, column] = table[name].to_numpy()
    return table[id_column].to_pylist(), vectors


def _from_parquet(file: Path, id_column: str, column: str | None) -> tuple[list[str], Vectors]:
    schema = pq.read_schema(file)
    lists = [field.name for field in schema if is_list_type(field.type)]
    if column is None and len(lists) == 1:
        (column,) = lists
    if column is None or column not in lists or id_column not in schema.names:
        raise InputError(
            str(file), None,
            f"its columns are {', '.join(schema.names)}; of ids: {id_column}, of lists: "
            f"{', '.join(lists) or 'none'}",
            "Name the columns of ids and of vectors.",
        )  # fmt: skip

    table = read_unlimited(file, [id_column, column])
    rows = table[column].combine_chunks()

    lengths = set(rows.value_lengths().to_pylist())
    if len(lengths) > 1 or None in lengths or table[id_column].null_count:
        raise InputError(
            str(file), None, "its vectors are not all of one length, or one is missing",
            "Leave such images out.",
        )  # fmt: skip

    width = next(iter(lengths), 0)
    vectors = rows.flatten().to_numpy(zero_copy_only=False).reshape(len(table), width)
    return list(map(str, table[id_column].to_pylist())), vectors
