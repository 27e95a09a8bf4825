"""Read rows of Parquet files in an engine's tasks, with the readers of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, clean_name, silent
from cobalance.counting import Incidence, incidence_of
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
    is_list_type,
    is_text_type,
    is_usable,
    named_row,
    plain_column,
    read_table,
    split_of_file,
    table_of_rows,
    usual_column,
    with_paths,
)
from cobalance.workflows.in_files.files import Files


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
        cells = batch.columns[:-2]
        names = column_names(batch.schema.names[:-2], problems)
        ids = self._ids_of_rows(batch)
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
        split = self._splits_of_files(batch)
        if split.null_count < len(split):
            name = self.options.split_column or usual_column("split", columns) or "split"
            columns[name] = pc.coalesce(columns.get(name, split), split)
        return Table(problems, columns, batch.num_rows, lambda _: "a row")

    def read(self, table: Table) -> Annotations:
        """Read images and their metadata."""
        return with_paths(read_table(table, self.options, silent), self.options, self.path)

    def images(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Read the class, the concepts, and the id, address and split of each image.

        What each column becomes was decided for all rows.
        """
        annotations = self.read(self.table(batch))
        problems = Problems(self.path, self.options)
        # Whether a choice fits was found out when it was made, from all rows.
        choices = {}
        for name, choice in field_choices(self.options).items():
            choices[name] = replace(choice, fits=True)
        annotations = add_concepts(annotations, choices, field_names(self.options), {}, problems)

        columns = {"concepts": list_concepts(incidence_of(annotations))}
        images = annotations.images.rename(columns={"class_name": "label"})
        for name in ("label", "id", "uri", "split"):
            columns[name] = pa.array(images[name].astype(object), pa.string(), from_pandas=True)
        return pa.RecordBatch.from_pydict(columns)

    def plain_images(self, batch: pa.RecordBatch, columns: Mapping[str, str]) -> pa.RecordBatch:
        """Take what an image has from `plain_columns`, by role.

        Ids and splits that no column holds are those of `table`.
        """
        columns_by_role = {
            role: batch[name] for role, name in columns.items() if name in batch.schema.names
        }
        if "id" not in columns:
            columns_by_role["id"] = self._ids_of_rows(batch)

        splits = self._splits_of_files(batch)
        if "split" in columns_by_role:
            splits = pc.coalesce(_clean_splits(columns_by_role["split"]), splits)
        columns_by_role["split"] = splits.cast(pa.string())
        for role in ("id", "uri"):
            if role in columns_by_role:
                columns_by_role[role] = columns_by_role[role].cast(pa.string())
        columns_by_role.setdefault("uri", pa.nulls(batch.num_rows, pa.string()))
        return pa.RecordBatch.from_pydict(columns_by_role)

    def _ids_of_rows(self, batch: pa.RecordBatch) -> pa.Array:
        """Ids of rows without any: the file's path in the folder, and the row's number in it."""
        *_, number, file = batch.columns
        files = file.dictionary_encode()
        paths = self._paths_of(files.dictionary.to_pylist())
        folders = pa.array([path and f"{path}/" for path in paths], TEXT).take(files.indices)
        return pc.binary_join_element_wise(folders, pc.cast(number, TEXT), pa.scalar("", TEXT))

    def _splits_of_files(self, batch: pa.RecordBatch) -> pa.Array:
        """The split that a file's name in its folder says, of each row; null for none."""
        files = batch.columns[-1].dictionary_encode()
        paths = self._paths_of(files.dictionary.to_pylist())
        return pa.array(map(split_of_file, paths), TEXT).take(files.indices)

    def _paths_of(self, addresses: Sequence[str]) -> list[str]:
        """Paths of files in their folder; empty for a file that is named itself."""
        prefix = f"{self.path}/"
        return [unquote(address).partition(prefix)[2] for address in addresses]


def plain_columns(files: Files, options: ReadOptions) -> dict[str, str]:
    """Columns by role that need not be read as a table does, if all are so.

    Such are texts in a column of classes, lists of texts in one of concepts, and nothing else but
    ids, addresses and splits, all named by the options.
    """
    kinds = {field.name: field.type for field in files.columns}
    roles = {
        "label": options.class_column,
        "concepts": options.concepts_column,
        "id": options.id_column,
        "uri": options.uri_column,
        "split": options.split_column,
    }
    columns = {role: name for role, name in roles.items() if name is not None}
    unread = {name for name, kind in options.field.items() if kind == "ignore"}
    has_others = {*columns.values(), *unread} != kinds.keys()
    if files.features or options.path_pattern or options.names or has_others:
        return {}
    if not {"label", "concepts"} <= columns.keys():
        return {}

    concepts = kinds[columns["concepts"]]
    are_texts = (
        is_list_type(concepts)
        and is_text_type(concepts.value_type)
        and is_text_type(kinds[columns["label"]])
    )
    return columns if are_texts else {}


def list_concepts(incidence: Incidence) -> pa.Array:
    """The concepts of each image, by name in order."""
    names = pa.array(incidence.concepts, pa.string())
    concepts = pa.DictionaryArray.from_arrays(pa.array(incidence.indices), names)
    return pa.ListArray.from_arrays(pa.array(incidence.indptr, pa.int32()), concepts)


def _clean_splits(column: pa.Array) -> pa.Array:
    """Splits with clean names; null for a blank one."""
    encoded = column.cast(TEXT).dictionary_encode()
    names = [clean_name(name) or None for name in encoded.dictionary.to_pylist()]
    return pa.array(names, TEXT).take(encoded.indices)
