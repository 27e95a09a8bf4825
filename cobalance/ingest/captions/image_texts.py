"""Captions, licences and attribution of a dataset's images, in a file beside the graph."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, Progress, silent
from cobalance.ingest.frames import TEXT_COLUMNS
from cobalance.vision import DatasetFiles, read_rows, write_sorted

_CONTENT = "captions"
_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("captions", pa.list_(pa.string())),
        *((name, pa.string()) for name in TEXT_COLUMNS[1:]),
    ]
)
_GROUP_ROWS = 2_048  # fewer make a file slower to open, more make it slower to read
_REPEATED = ["license", "license_url"]


def caption_files(folder: Path) -> DatasetFiles:
    """The files of all datasets."""
    return DatasetFiles(folder, _CONTENT)


def write_image_texts(
    folder: Path,
    dataset: str,
    annotations: Annotations,
    *,
    replace: bool = False,
    afresh: bool = False,
    progress: Progress = silent,
) -> int:
    """Write captions, licences and attribution of annotated images, atomically.

    What they do not tell stays: captions of an image for which no caption was read, licences where
    the new file has none. The file is deleted if nothing is left, and not written if nothing
    changes.

    Parameters
    ----------
    folder : Path
        Folder of all datasets' captions.
    replace : bool
        Delete what is known of the dataset's other images.
    afresh : bool
        Delete all that is known, as of a new dataset.

    Returns
    -------
    int
        Number of images that something is known of afterwards.

    Raises
    ------
    StoreError
        The file cannot be written.
    InputError
        The file of what was known cannot be read.
    """
    files = caption_files(folder)
    new = _table_of(annotations)
    if not len(new) and not files.path(dataset).exists():
        return 0

    with files.writing():
        stored = _SCHEMA.empty_table()
        if not afresh:
            stored = read_rows(files.path(dataset), _CONTENT, _SCHEMA)
        remaining = stored
        if replace:
            ids = pa.array(annotations.images["id"].tolist(), pa.string())
            remaining = stored.filter(pc.is_in(stored["id"], ids))

        merged = _merge(remaining, new)
        if len(merged) and merged.equals(stored):
            return len(merged)

        progress("write captions", 0, len(merged))
        with files.replacing(dataset) as temporary:
            return write_sorted(
                temporary,
                (merged.slice(start, _GROUP_ROWS) for start in range(0, len(merged), _GROUP_ROWS)),
                _SCHEMA,
                dictionary=_REPEATED,
                progress=lambda done: progress("write captions", done, len(merged)),
            )


def read_image_texts(
    folder: Path, dataset: str, ids: Collection[str] | None = None
) -> pd.DataFrame:
    """Read captions, licences and attribution of images.

    Parameters
    ----------
    ids : collection of str or None
        Images to read; None for all.

    Returns
    -------
    pandas.DataFrame
        In order of image id, a row for each image of which something is known: ``id``, ``captions``
        (a list of str, in the order of their file, perhaps empty), ``license`` (its name),
        ``license_url`` and ``attribution`` (such as the image's page); None where unknown.

    Raises
    ------
    InputError
        The file cannot be read.

    Examples
    --------
    >>> read_image_texts(Path("nowhere"), "cars").columns.tolist()
    ['id', 'captions', 'license', 'license_url', 'attribution']
    """
    table = read_rows(caption_files(folder).path(dataset), _CONTENT, _SCHEMA, ids)
    columns = table.to_pydict()
    columns["captions"] = [captions or [] for captions in columns["captions"]]
    return pd.DataFrame(columns, dtype=object)


def _table_of(annotations: Annotations) -> pa.Table:
    """Captions and licences of annotations, sorted by image id."""
    texts = annotations.texts
    if texts is None:
        return _SCHEMA.empty_table()

    ids = annotations.images["id"].iloc[texts["image"]].tolist()
    columns = texts[[*TEXT_COLUMNS]].to_dict("list")
    table = pa.table({"id": ids, **columns}, schema=_SCHEMA)
    return table.sort_by("id").combine_chunks()


def _merge(held: pa.Table, new: pa.Table) -> pa.Table:
    """The rows of both, sorted by id; of an image in both each column that is new, or else held."""
    stored_ids = pd.Index(held["id"].to_pylist(), dtype=object)
    fresh = pd.Index(new["id"].to_pylist(), dtype=object)
    ids = sorted({*stored_ids, *fresh})

    columns = [pa.array(ids, pa.string())]
    for field in list(_SCHEMA)[1:]:
        parts = []
        for index, table in ((fresh, new), (stored_ids, held)):
            row = pa.array(index.get_indexer(pd.Index(ids, dtype=object)))
            row = pc.if_else(pc.less(row, 0), pa.scalar(None, row.type), row)
            parts.append(table[field.name].combine_chunks().take(row))

        # The first that is not null, and so the new text before the stored one.
        columns.append(pc.coalesce(*parts))
    return pa.table(columns, schema=_SCHEMA)
