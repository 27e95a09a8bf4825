"""What every export format does, and what the formats share: tables, and what is said of files."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from generation.export.images.entry import ExportImage
from generation.export.images.loading import ImageStream
from generation.export.options import ExportOptions
from generation.export.writing.staging import Staging

_GROUP_ROWS = 10_000
_PROVENANCE = (
    *("job", "query", "index", "prompt", "seed", "source_image"),
    *("backend", "model", "revision", "digital_source_type"),
)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an image is in an export.

    Parameters
    ----------
    uri : str or None
        By what it is found: its path in the folder, or its own address.
    file : str or None
        The file in the folder that it is in, if any.
    key : str or None
        Its name in that file, where others are in it, too.
    mask : str or None
        The file of its mask, if there is one.
    """

    uri: str | None
    file: str | None = None
    key: str | None = None
    mask: str | None = None


@dataclass(frozen=True)
class Column:
    """A column of a table, and what is in it, for the data card and the Croissant file."""

    type: pa.DataType
    meaning: str


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of an export.

    Parameters
    ----------
    name : str
        Its path in the folder.
    meaning : str
        What it is, as a sentence.
    columns : mapping of str to Column
        Its columns.
    key : str
        The column that tells its rows apart.
    """

    name: str
    meaning: str
    columns: Mapping[str, Column]
    key: str = "image_id"

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow has them."""
        return pa.schema([(name, column.type) for name, column in self.columns.items()])


@dataclass(frozen=True)
class Written:
    """What a writer has written beside the images.

    Parameters
    ----------
    counts : mapping of str to int
        What there was to count.
    tables : tuple of TableFile
        Its tables.
    patterns : mapping of str to str
        Globs of the files of each split, for loaders that go by those.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    tables: tuple[TableFile, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)


class Writer(Protocol):
    """Writes one export."""

    def add(self, image: ExportImage) -> Placed:
        """Write an image, or note that it stays where it is."""

    def finish(self) -> Written:
        """Write the rest; no image follows."""


class Exporter(Protocol):
    """A format: what the modules in the registry have as ``EXPORTER``.

    Attributes
    ----------
    images : frozenset of str
        What of `ExportOptions.images` it can do; nothing for a format without images, which is
        then given the dataset's frame of real images alone.
    shuffled : bool
        Whether it wants the images in mixed order.
    layout : str
        What is in the folder and how it is loaded, in Markdown.
    """

    @property
    def images(self) -> frozenset[str]:
        """What of `ExportOptions.images` it can do."""

    @property
    def shuffled(self) -> bool:
        """Whether it wants the images in mixed order."""

    @property
    def layout(self) -> str:
        """What is in the folder, and how it is loaded, in Markdown."""

    def open(self, stream: ImageStream, staging: Staging, options: ExportOptions) -> Writer:
        """Begin an export.

        Raises
        ------
        OptionError
            The dataset or the options are nothing that this format can write.
        """


def place_file(staging: Staging, folder: str, image: ExportImage) -> Placed:
    """Write an image as a file of its own; one without content stays where it is."""
    if image.content is None:
        return Placed(image.uri)
    path = f"{folder}/{image.file_name}"
    staging.write(path, image.content)
    return Placed(path, path)


def about(image: ExportImage) -> dict[str, Any]:
    """What there is to say of an image beside its file, for JSON."""
    said: dict[str, Any] = {
        "id": image.id,
        "class": image.class_name,
        "concepts": list(image.concepts),
        "split": image.split,
        "synthetic": image.synthetic,
        "original_uri": image.uri,
    }
    if image.provenance is not None:
        said["generated"] = {name: image.provenance[name] for name in _PROVENANCE}
    return said


class TableWriter:
    """Collects rows, and writes them group by group.

    Parameters
    ----------
    file : binary file
        To write to.
    schema : pyarrow.Schema
        Of the rows.
    """

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._schema, self._rows = schema, list[Mapping[str, Any]]()
        self._parquet = pq.ParquetWriter(file, schema, compression="zstd")

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row: a value for each column that has one."""
        self._rows.append(row)
        if len(self._rows) >= _GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, self._schema))
            self._rows = []

    def close(self) -> None:
        """End the file."""
        self._parquet.close()


@contextmanager
def table_writer(staging: Staging, table: TableFile) -> Iterator[TableWriter]:
    """Open a table of an export to write its rows."""
    with staging.open(table.name) as file, closing(TableWriter(file, table.schema)) as writer:
        yield writer
        writer.flush()
