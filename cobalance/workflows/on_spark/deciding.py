"""Decide the use of each column of Parquet files once, from the values of all rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cobalance.base.errors import InputError, Setting
from cobalance.base.libraries import sql
from cobalance.base.names import clean_name
from cobalance.base.records import ALL_IMAGES, Field
from cobalance.ingest.fields.choices import BINNED, Choice, field_choices, field_names
from cobalance.ingest.fields.concepts import bin_edges, read_column
from cobalance.ingest.fields.report import describe_fields, offer_class
from cobalance.ingest.fields.values import encode_values, name_values
from cobalance.ingest.frames import TEXT
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.concept_cells import DELIMITERS, are_spaced, starts_list
from cobalance.workflows.on_spark.rows import RowReader, open_rows

MOST_VALUES = 1_000_000
"""Different values of all columns together that a decision is taken from."""
_MOST_RECORDS = 20_000_000  # beyond, values count in proportion
_MALFORMED = ""


def decide_columns(
    session: "sql.SparkSession", path: str | Sequence[str], options: ReadOptions
) -> tuple[ReadOptions, tuple[str, ...]]:
    """Options by which any part of the files is read as all are, and notes for people.

    What a column becomes is decided as it is here, from its values and their counts.

    Raises
    ------
    InputError
        A row is malformed, an image has several rows, or a column is missing, has too many values,
        or has cells in several notations.
    """
    rows, reader = open_rows(session, path, options)
    file = reader.path
    first = rows.limit(1).toArrow().combine_chunks().to_batches()
    if not first:
        raise InputError(file, None, "has no rows", "Give files with a row for each image.")
    table = reader.table(first[0])
    trial = reader.read(table)
    metadata = {name: cells for part in trial.metadata for name, cells in part.columns.items()}
    roles, own = trial.roles, {*trial.roles.values()}
    choices, names = field_choices(options), {**field_names(options)}
    asked = {clean_name(it) for it in (options.class_column, options.split_column) if it} - own
    if asked := asked | {*choices, *names} - metadata.keys() - own:
        raise InputError(file, None, f"there is no column {min(asked)!r}", "Name another.")
    raw = {clean_name(name): name for name in rows.columns[:-2]}
    if roles["id"] in raw:
        ids = f"`{raw[roles['id']]}`"
        repeats = sql.functions.count(ids) - sql.functions.count_distinct(ids)
        if (n := rows.select(repeats).collect()[0][0]) > 0:
            reason = f"{n:,} rows are of images of other rows"
            raise InputError(file, None, reason, "For Spark, give each image one row.")
    values = _count_values(rows, reader)
    label, shown = roles.get("class", ""), roles.get("concepts", "")
    if values.get(label, {}).keys() == {"-1", "1"}:
        names.setdefault(label, {"-1": f"not {label}", "1": label})
    if shown in values and options.delimiter is None:
        marks = _delimiters(shown, values[shown], file)
        options = replace(options, delimiter=marks[0] if marks else None)
    given = {clean_name(name): text for name, text in options.field.items()}
    boxes = "object" in roles or any(part.numbers for part in trial.metadata)
    decided = {} if boxes else dict.fromkeys(table.columns.keys() - own, "ignore")
    told = list[Field]()
    for name, cells in metadata.items():
        if name not in values:  # as it holds lists, or nothing is to be decided
            decided[name] = given.get(name, "list")
            continue
        column, codes = _expand(values[name], cells.type), names.get(name, {})
        found = read_column(name, column, choices.get(name), codes, Problems(file, options))
        marks = _delimiters(name, values[name], file) if found.kind == "list" else []
        if len(marks) > 1 or any((it or "").startswith("{") for it in values[name]):
            raise _refusal(file, name, "holds objects, or several delimiters")
        decided[name] = _in_full(found.kind, choices.get(name), name_values(column, codes))
        counts = len(np.unique(found.code)), len(np.unique(found.record)), found.missing
        told.append(Field(name, found.kind, *counts, found.why))
    options = replace(options, field=decided, names=names)
    trial = replace(reader, options=options).read(table)
    notes = [*trial.notes, *describe_fields(told, file)]
    if trial.images["class_name"].eq(ALL_IMAGES).all():
        notes += offer_class(told, file)
    return options, tuple(notes)


def _count_values(
    rows: "sql.DataFrame", reader: RowReader
) -> Mapping[str, Mapping[str | None, int]]:
    """Rows with each value of each column that needs a decision; None is a missing value."""
    choices = field_choices(reader.options)
    said = {name for name, it in choices.items() if it.kind == "ignore" or it.edges}

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in map(reader.table, batches):
            found = reader.read(table)
            columns = {name: it for part in found.metadata for name, it in part.columns.items()}
            taken = (found.roles.get(role) for role in ("class", "concepts"))
            columns |= {name: table.columns[name] for name in taken if name}
            columns[_MALFORMED] = pa.array([*found.skipped, *found.set_aside], TEXT)
            parts = [
                pa.table({"column": pa.repeat(name, len(it)), "value": it.cast(pa.string())})
                for name, it in columns.items()
                if name not in said and not pa.types.is_nested(it.type)
            ]
            grouped = pa.concat_tables(parts).group_by(["column", "value"])
            yield from grouped.aggregate([([], "count_all")]).to_batches()

    counted = rows.mapInArrow(count, "column string, value string, count_all long")
    summed = counted.groupBy("column", "value").agg(sql.functions.sum("count_all").alias("rows"))
    table = summed.limit(MOST_VALUES + 1).toArrow()
    values: dict[str, dict[str | None, int]] = {}
    for row in table.sort_by([("rows", "descending"), ("value", "ascending")]).to_pylist():
        values.setdefault(row["column"], {})[row["value"]] = row["rows"]
    if wrong := values.get(_MALFORMED):
        reason = f"{sum(wrong.values()):,} rows cannot be used"
        raise InputError(reader.path, None, reason, f"Of one: {next(iter(wrong))}")
    if len(table) > MOST_VALUES:
        name = max(values, key=lambda name: len(values[name]))
        raise _refusal(reader.path, name, f"has more than {MOST_VALUES:,} values")
    return values


def _expand(counts: Mapping[str | None, int], kind: pa.DataType) -> pa.Array:
    """A column with as many records of each value, in proportion where there are very many."""
    n = np.array([*counts.values()])
    n = -(-n * _MOST_RECORDS // max(n.sum(), _MOST_RECORDS))
    return pa.array([*counts], TEXT).cast(kind).take(pa.array(np.repeat(np.arange(len(n)), n)))


def _in_full(kind: str, choice: Choice | None, cells: pa.Array) -> str:
    """The use of a column as the option ``field`` has it, with the edges of bins."""
    choice = choice or Choice(kind)
    edges = bin_edges(encode_values(cells), choice) if kind in BINNED else ()
    return f"bins:{','.join(map(repr, edges))}:{choice.unit}" if edges else kind


def _delimiters(name: str, values: Iterable[str | None], file: str) -> list[str]:
    """Delimiters of plain text, spaces too, or one that it lacks; none of lists in text.

    Raises for cells that others say how to read, as these may be in other tasks.
    """
    texts = [text for value in values if (text := (value or "").strip())]
    lists = {starts_list(text) for text in texts}
    if len(lists) > 1 or any(text.startswith("{") for text in texts):
        raise _refusal(file, name, "holds objects, or lists beside plain text")
    if lists != {False}:
        return []
    found = [mark for mark in DELIMITERS if any(mark in text for text in texts)]
    return found or [" " if are_spaced([*dict.fromkeys(texts)]) else DELIMITERS[0]]


def _refusal(file: str, column: str, reason: str) -> InputError:
    remedy = ("Set ", Setting("field"), f" to {column}=ignore, or save it as lists of text.")
    return InputError(file, None, f"for Spark, the column {column!r} {reason}", remedy)
