"""Decide the use of each column of Parquet files once, from the values of all rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cobalance.base import ALL_IMAGES, Annotations, Field, InputError, Setting, clean_name, sql
from cobalance.ingest import (
    BINNED,
    DELIMITERS,
    TEXT,
    Choice,
    Problems,
    ReadOptions,
    are_spaced,
    bin_edges,
    box_cells,
    describe_fields,
    encode_values,
    field_choices,
    field_names,
    is_list,
    name_values,
    normal_name,
    offer_class,
    read_column,
    starts_list,
    usual_column,
    with_code_files,
)
from cobalance.workflows.on_spark.rows import RowReader, open_rows

MOST_VALUES = 1_000_000
"""Different values of all columns together that a decision is taken from."""
# Beyond so many, values count in proportion.
_MOST_RECORDS = 20_000_000
_LOOKED_AT = 1_000  # values of a column that is named like a class
# The name of no column: in its place are the reasons why rows cannot be used.
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
    options = with_code_files(options)
    rows, reader = open_rows(session, path, options)
    file = reader.path
    first = rows.limit(1).toArrow().combine_chunks().to_batches()
    if not first:
        raise InputError(file, None, "has no rows", "Give files with a row for each image.")
    table = reader.table(first[0])
    trial = reader.read(table)
    metadata, roles = _metadata(trial), trial.roles

    choices, names = field_choices(options), {**field_names(options)}
    if boxes_in_cells := box_cells(table).keys() - choices.keys():
        # Rows of one task alone may have none, and be read as of a table without boxes.
        raise _refusal(file, min(boxes_in_cells), "may hold boxes")
    missing = {*choices, *names} - metadata.keys()
    missing |= set(map(clean_name, filter(None, (options.class_column, options.split_column))))
    if missing := missing - {*roles.values()}:
        raise InputError(file, None, f"there is no column {min(missing)!r}", "Name another.")
    _check_ids(rows, roles["id"], file)

    guessed_class = None if options.class_column else usual_column("class", table.columns)
    if guessed_class is not None and roles.get("class") == guessed_class:
        # Whether its values are lists is decided once, and not by the rows of a task.
        options = replace(options, class_column=guessed_class)
        reader = replace(reader, options=replace(reader.options, class_column=guessed_class))
    values = _count_values(rows, reader)
    if guessed_class is not None:
        _refuse_lists(guessed_class, roles, values, options, file)
    label, concepts = roles.get("class", ""), roles.get("concepts", "")
    if values.get(label, {}).keys() == {"-1", "1"}:
        names.setdefault(label, {"-1": f"not {label}", "1": label})
    if concepts in values and options.delimiter is None:
        marks = _delimiters(concepts, values[concepts], file)
        options = replace(options, delimiter=next(iter(marks), None))

    # Columns of boxes are read, whatever else becomes of them.
    boxes = "object" in roles or any(part.numbers for part in trial.metadata)
    unused = () if boxes else table.columns.keys() - {*roles.values()}
    decided, fields = _decide_fields(metadata, values, options, names, file)
    decided = {**dict.fromkeys(unused, "ignore"), **decided}
    options = replace(options, field=decided, names=names)

    trial = replace(reader, options=options).read(table)
    notes = [*trial.notes, *describe_fields(fields, file)]
    if trial.images["class_name"].eq(ALL_IMAGES).all():
        notes += offer_class(fields, file)
    return options, tuple(notes)


def _metadata(annotations: Annotations) -> dict[str, pa.Array]:
    columns: dict[str, pa.Array] = {}
    for part in annotations.metadata:
        columns.update(part.columns)
    return columns


def _check_ids(rows: "sql.DataFrame", id_column: str, file: str) -> None:
    """Raise InputError for several rows with one id."""
    columns = {clean_name(name): name for name in rows.columns[:-2]}
    if id_column not in columns:
        return
    # Rows that are numbered may be several of a picture.
    picture = usual_column("uri", columns) if normal_name(id_column) == "id" else None
    repeats = [_repeats(columns[name]) for name in dict.fromkeys([id_column, picture or id_column])]
    if (n := max(rows.select(*repeats).collect()[0])) > 0:
        reason = f"{n:,} rows are of images of other rows"
        raise InputError(file, None, reason, "For Spark, give each image one row.")


def _repeats(column: str) -> "sql.Column":
    """How many rows have a value of another row."""
    values = f"`{column}`"
    return sql.functions.count(values) - sql.functions.count_distinct(values)


def _refuse_lists(
    column: str,
    roles: Mapping[str, str],
    values: Mapping[str, Mapping[str | None, int]],
    options: ReadOptions,
    file: str,
) -> None:
    """Raise for a column that is named like a class and holds lists: rows may not say so alone."""
    texts = list(filter(None, values.get(column, {})))[:_LOOKED_AT]
    comes_later = options.classes_come_later or options.searches_classes
    is_left = not comes_later and column not in {*roles.values(), *options.field}
    if is_left or (roles.get("class") == column and is_list(texts)):
        raise _refusal(file, column, "is named like a class and holds lists")


def _decide_fields(
    metadata: Mapping[str, pa.Array],
    values: Mapping[str, Mapping[str | None, int]],
    options: ReadOptions,
    names: Mapping[str, Mapping[str, str]],
    file: str,
) -> tuple[dict[str, str], list[Field]]:
    """The use of each column of metadata, and a report on each that was decided here."""
    choices = field_choices(options)
    ordered = {clean_name(name): text for name, text in options.field.items()}
    decided: dict[str, str] = {}
    fields = list[Field]()
    for name, cells in metadata.items():
        # It holds lists, or nothing is to be decided.
        if name not in values:
            decided[name] = ordered.get(name, "list")
            continue

        column, codes = _expand(values[name], cells.type), names.get(name, {})
        reading = read_column(name, column, choices.get(name), codes, Problems(file, options))

        marks = _delimiters(name, values[name], file) if reading.kind == "list" else []
        if len(marks) > 1 or any((value or "").startswith("{") for value in values[name]):
            raise _refusal(file, name, "holds objects, or several delimiters")
        if marks == [" "] and not choices.get(name):
            raise _refusal(file, name, "holds words with spaces between")
        decided[name] = _in_full(reading.kind, choices.get(name), name_values(column, codes))
        field = Field(
            name,
            reading.kind,
            len(np.unique(reading.code)),
            len(np.unique(reading.record)),
            reading.missing,
            reading.why,
        )
        fields.append(field)
    return decided, fields


def _count_values(
    rows: "sql.DataFrame", reader: RowReader
) -> Mapping[str, Mapping[str | None, int]]:
    """Rows with each value of each column that needs a decision; None is a missing value."""
    choices = field_choices(reader.options)
    settled = {name for name, choice in choices.items() if choice.kind == "ignore" or choice.edges}

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in map(reader.table, batches):
            annotations = reader.read(table)
            columns = _metadata(annotations)
            for role in ("class", "concepts"):
                if name := annotations.roles.get(role):
                    columns[name] = table.columns[name]
            columns[_MALFORMED] = pa.array([*annotations.skipped, *annotations.set_aside], TEXT)
            parts = [
                pa.table({"column": pa.repeat(name, len(cells)), "value": cells.cast(pa.string())})
                for name, cells in columns.items()
                if name not in settled and not pa.types.is_nested(cells.type)
            ]
            grouped = pa.concat_tables(parts).group_by(["column", "value"])
            yield from grouped.aggregate([([], "count_all")]).to_batches()

    counted = rows.mapInArrow(count, "column string, value string, count_all long")
    summed = counted.groupBy("column", "value").agg(sql.functions.sum("count_all").alias("rows"))

    # One more than may be, so that too many are noticed.
    table = summed.limit(MOST_VALUES + 1).toArrow()
    values: dict[str, dict[str | None, int]] = {}
    for row in table.sort_by([("rows", "descending"), ("value", "ascending")]).to_pylist():
        values.setdefault(row["column"], {})[row["value"]] = row["rows"]

    if malformed := values.get(_MALFORMED):
        reason = f"{sum(malformed.values()):,} rows cannot be used"
        raise InputError(reader.path, None, reason, f"Of one: {next(iter(malformed))}")
    if len(table) > MOST_VALUES:
        name = max(values, key=lambda name: len(values[name]))
        raise _refusal(reader.path, name, f"has more than {MOST_VALUES:,} values")
    return values


def _expand(counts: Mapping[str | None, int], kind: pa.DataType) -> pa.Array:
    """A column with as many records of each value, in proportion where there are very many."""
    n = np.array([*counts.values()])
    # Rounded up, so that each value has a record.
    most = max(n.sum(), _MOST_RECORDS)
    n = (n * _MOST_RECORDS + most - 1) // most
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
    texts = list(filter(None, ((value or "").strip() for value in values)))
    is_list = set(map(starts_list, texts))
    if len(is_list) > 1 or any(text.startswith("{") for text in texts):
        raise _refusal(file, name, "holds objects, or lists beside plain text")
    if is_list != {False}:
        return []
    marks = [mark for mark in DELIMITERS if any(mark in text for text in texts)]
    return marks or [" " if are_spaced([*dict.fromkeys(texts)]) else DELIMITERS[0]]


def _refusal(file: str, column: str, reason: str) -> InputError:
    remedy = ("Set ", Setting("field"), f" to {column}=ignore, or save it as lists of text.")
    return InputError(file, None, f"for Spark, the column {column!r} {reason}", remedy)
