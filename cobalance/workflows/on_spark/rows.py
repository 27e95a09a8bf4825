"""Read rows of Parquet files in Spark's tasks, with the readers of tables."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cobalance.base import Annotations, InputError, clean_name, silent, sql
from cobalance.counting import incidence_of
from cobalance.ingest import (
    TEXT,
    Problems,
    ReadOptions,
    Table,
    add_concepts,
    batch_rows,
    column_names,
    field_choices,
    field_names,
    hub_features,
    is_usable,
    named_row,
    plain_column,
    read_table,
    split_of_file,
    table_of_rows,
    usual_column,
    with_paths,
)

IMAGES = "concepts array<string>, label string, id string, uri string, split string"


@dataclass(frozen=True)
class RowReader:
    """Reads batches of rows, whose last columns are their number in a file, and that file.

    `path` is of the files, `features` are those of `hub_features`, `options` of a reader here.
    """

    path: str
    features: Mapping[str, Any]
    options: ReadOptions

    def table(self, batch: pa.RecordBatch) -> Table:
        """Load rows as a table; the name of a file in a folder may be its split."""
        problems = Problems(self.path, self.options)
        *cells, number, file = batch.columns
        names = column_names(batch.schema.names[:-2], problems)
        files = file.dictionary_encode()
        prefix = f"{self.path}/"
        paths = [unquote(uri).partition(prefix)[2] for uri in files.dictionary.to_pylist()]

        # Ids of rows without any: the file's path in the folder, and the row's number in the file.
        folders = pa.array([path and f"{path}/" for path in paths], TEXT).take(files.indices)
        ids = pc.binary_join_element_wise(folders, pc.cast(number, TEXT), pa.scalar("", TEXT))
        if self.features:
            rows = batch_rows(pa.RecordBatch.from_arrays(cells, names), problems)
            numbered = zip(rows, ids.to_pylist(), strict=True)
            named = (("a row", named_row(row, self.features, id_)) for row, id_ in numbered)
            columns = table_of_rows(named, problems).columns
        else:
            columns = {}
            for name, column in zip(names, cells, strict=True):
                if is_usable(column.type):
                    columns[name] = plain_column(column)
        if not (self.options.id_column or usual_column("id", columns)):
            columns["image_id"] = ids

        # A column of splits goes before the names of files.
        split = pa.array(map(split_of_file, paths), TEXT).take(files.indices)
        if split.null_count < len(split):
            name = self.options.split_column or usual_column("split", columns) or "split"
            columns[name] = pc.coalesce(columns.get(name, split), split)
        return Table(problems, columns, len(number), lambda _: "a row")

    def read(self, table: Table) -> Annotations:
        """Read images and their metadata."""
        return with_paths(read_table(table, self.options, silent), self.options, self.path)

    def images(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Read `IMAGES`, as was decided for each column."""
        annotations = self.read(self.table(batch))
        problems = Problems(self.path, self.options)
        # Whether a choice fits was found out when it was made, from all rows.
        choices = {}
        for name, choice in field_choices(self.options).items():
            choices[name] = replace(choice, fits=True)
        annotations = add_concepts(annotations, choices, field_names(self.options), {}, problems)

        incidence = incidence_of(annotations)
        concepts = pa.array(incidence.concepts, pa.string()).take(pa.array(incidence.indices))
        offsets = pa.array(incidence.indptr, pa.int32())
        columns = {"concepts": pa.ListArray.from_arrays(offsets, concepts)}
        images = annotations.images.rename(columns={"class_name": "label"})
        for name in ("label", "id", "uri", "split"):
            columns[name] = pa.array(images[name].astype(object), pa.string(), from_pandas=True)
        return pa.RecordBatch.from_pydict(columns)


def open_rows(
    session: "sql.SparkSession",
    path: str | Sequence[str],
    options: ReadOptions,
    left: Container[str] = (),
) -> tuple["sql.DataFrame", RowReader]:
    """Open Parquet files: rows without pixels and columns that are left out, and their reader.

    Raises
    ------
    InputError
        The files cannot be read.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    paths = [path] if isinstance(path, str) else [*path]
    file = ", ".join(paths).rstrip("/")
    try:
        frame = session.read.parquet(*paths)
        metadata = _hub_metadata(session, frame.inputFiles()[0])
    except PySparkException as error:
        reason = f"cannot be read ({str(error).splitlines()[0]})"
        raise InputError(file, None, reason, "Check the path.") from None
    except Py4JError as error:
        reason = "cannot be read as Parquet"
        raise InputError(file, None, reason, "Name Parquet files, or their folder.") from error
    _check_types(frame.inputFiles(), file)

    columns: list[sql.Column] = []
    for field in frame.schema:
        if clean_name(field.name) not in left:
            columns += _light(field)
    rows = frame.select(*columns, "_metadata.row_index", "_metadata.file_path")
    return rows, RowReader(file, hub_features(metadata), replace(options, on_error="skip"))


def _check_types(files: Sequence[str], path: str) -> None:
    """Raise InputError for a column of local files with several types, as Spark reads one."""
    first: dict[str, tuple[pa.DataType, str]] = {}
    for file in files:
        if not file.startswith("file:"):
            continue
        local_path = unquote(urlsplit(file).path)
        for field in pq.read_schema(local_path):
            kind, other = first.setdefault(field.name, (field.type, local_path))
            if field.type != kind:
                reason = (
                    f"for Spark, the column {field.name!r} is {field.type}, and {kind} in {other}"
                )
                remedy = f"Write it as one type in all files of {path}."
                raise InputError(local_path, None, reason, remedy)


def _light(column: "sql.types.StructField") -> list["sql.Column"]:
    """A column without pixels; none where it has nothing else."""
    kind, whole = column.dataType, sql.functions.col(f"`{column.name}`")
    parts = kind.fields if isinstance(kind, sql.types.StructType) else [column]
    pixels = [part.name for part in parts if isinstance(part.dataType, sql.types.BinaryType)]
    if len(pixels) == len(parts):
        return []
    return [whole.dropFields(*pixels).alias(column.name) if pixels else whole]


def _hub_metadata(session: "sql.SparkSession", file: str) -> str | None:
    """Metadata of a Hugging Face dataset in a file at any address, as JSON."""
    context: Any = session.sparkContext
    java = context._jvm
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(file))
    files = java.org.apache.parquet.hadoop.ParquetFileReader
    footer = files.readFooter(context._jsc.hadoopConfiguration(), path)
    return footer.getFileMetaData().getKeyValueMetaData().get("huggingface")
