"""Embeddings of a dataset's images, kept in a file beside the graph."""

from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.ingest.embeddings.similarity import Vectors
from cobalance.vision import DatasetFiles


def embedding_files(folder: Path) -> DatasetFiles:
    """The files with the embeddings of all datasets."""
    return DatasetFiles(folder, "embeddings")


def write_embeddings(folder: Path, dataset: str, ids: list[str], unit: Vectors) -> None:
    """Keep the vectors of images, in place of those kept before.

    Raises
    ------
    StoreError
        The folder cannot be written to.
    """
    files = embedding_files(folder)
    with files.writing(), files.replacing(dataset) as path, path.open("wb") as file:
        write_table(file, ids, unit)


def write_table(file: IO[bytes], ids: list[str], unit: Vectors) -> None:
    """Write ids and vectors as Parquet."""
    flat = pa.array(np.ascontiguousarray(unit).reshape(-1))
    vectors = pa.FixedSizeListArray.from_arrays(flat, max(unit.shape[1], 1))
    table = pa.table({"id": pa.array(ids, pa.string()), "vector": vectors})
    pq.write_table(table, file, compression="none", use_dictionary=False)


def time_written(folder: Path, dataset: str) -> float | None:
    """When a dataset's embeddings were written, as a time stamp; None where it has none."""
    path = embedding_files(folder).path(dataset)
    if not path.exists():
        return None
    return path.stat().st_mtime


def read_stored(folder: Path, dataset: str) -> tuple[list[str], Vectors] | None:
    """Read the ids and vectors of a dataset's images; None where it has none."""
    path = embedding_files(folder).path(dataset)
    if not path.exists():
        return None
    with path.open("rb") as file:
        return read_vectors(file)


def read_vectors(file: IO[bytes]) -> tuple[list[str], Vectors]:
    """Read the ids and vectors that `write_table` has written."""
    table = pq.read_table(file)
    rows = table["vector"].combine_chunks()
    vectors = rows.flatten().to_numpy(zero_copy_only=False).reshape(-1, rows.type.list_size)
    return table["id"].to_pylist(), vectors
