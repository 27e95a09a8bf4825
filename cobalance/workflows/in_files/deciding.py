"""Decide the use of each column of Parquet files once, from the values of all rows."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import ALL_IMAGES, Annotations, Field, InputError, Setting, clean_name
from cobalance.counting import (
    Batches,
    Singles,
    add_tables,
    names_table,
    pack,
    run,
    singles_of,
)
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
    encode_names,
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
from cobalance.workflows.in_files.files import Files
from cobalance.workflows.in_files.rows import RowReader, plain_columns

MOST_VALUES = 1_000_000
"""Different values of all columns together that a decision is taken from."""
_MOST_CELLS = 10_000_000
"""Classes times the concepts that they show, 50 bytes each, beyond which rows are looked at."""
_ROLES = {"id", "class", "concepts", "split", "uri"}
# Beyond so many, values count in proportion.
_MOST_RECORDS = 20_000_000
_LOOKED_AT = 1_000  # values of a column that is named like a class
# The name of no column: in its place are the reasons why rows cannot be used.
_MALFORMED = ""


class Decided(NamedTuple):
    """Options by which any part of some files is read as all are, and notes for people.

    With the totals of all images, where these were counted on the way.
    """

    options: ReadOptions
    notes: tuple[str, ...]
    singles: Singles | None


def decide_columns(files: Files, options: ReadOptions) -> Decided:
    """Decide how files are read.

    What a column becomes is decided as it is here, from its values and their counts.

    Raises
    ------
    InputError
        A row is malformed, an image has several rows, or a column is missing, has too many values,
        or has cells in several notations.
    """
    options = with_code_files(options)
    file = files.path
    reader = RowReader(file, files.features, replace(options, on_error="skip"))
    first = files.first()
    if first is None:
        raise InputError(file, None, "has no rows", "Give files with a row for each image.")
    table = reader.table(first)
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
    _check_ids(files, first.schema.names[:-2], roles["id"])

    guessed_class = None if options.class_column else usual_column("class", table.columns)
    if guessed_class is not None and roles.get("class") == guessed_class:
        # Whether its values are lists is decided once, and not by the rows of a task.
        options = replace(options, class_column=guessed_class)
        reader = replace(reader, options=replace(reader.options, class_column=guessed_class))
    explicit = _name_columns(files, options, roles)
    counted = _count_plain(files, explicit)
    values = _count_values(files, reader) if counted is None else counted.values
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
    if counted is None:
        return Decided(options, tuple(notes), None)
    options = replace(explicit, field=decided, names=names)
    # Where classes have other names than in the files, they are counted by these.
    singles = counted.singles if plain_columns(files, options) else None
    return Decided(options, tuple(notes), singles)


def _name_columns(files: Files, options: ReadOptions, roles: Mapping[str, str]) -> ReadOptions:
    """Options that name the columns of the files which were found for roles."""
    names = {role: name for role, name in roles.items() if name in files.columns.names}
    named: dict[str, Any] = {f"{role}_column": names[role] for role in _ROLES & names.keys()}
    return replace(options, **named)


def _metadata(annotations: Annotations) -> dict[str, pa.Array]:
    columns: dict[str, pa.Array] = {}
    for part in annotations.metadata:
        columns.update(part.columns)
    return columns


def _check_ids(files: Files, names: Iterable[str], id_column: str) -> None:
    """Raise InputError for several rows with one id."""
    columns = {clean_name(name): name for name in names}
    if id_column not in columns:
        return
    # Rows that are numbered may be several of a picture.
    picture = usual_column("uri", columns) if normal_name(id_column) == "id" else None
    named = [columns[name] for name in dict.fromkeys([id_column, picture or id_column])]
    if (n := files.count_repeats(named)) > 0:
        reason = f"{n:,} rows are of images of other rows"
        remedy = "Give each image one row, with a list of its concepts."
        raise InputError(files.path, None, reason, remedy)


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


class _PlainCounts(NamedTuple):
    """Rows with each value of the column of classes, by its name, and totals by clean names."""

    values: Mapping[str, Mapping[str | None, int]]
    singles: Singles


def _count_plain(files: Files, options: ReadOptions) -> _PlainCounts | None:
    """Count the rows of columns that are plain.

    None where some are not, or a name is not sound: then rows are read as of any table.
    """
    plain = plain_columns(files, options)
    if not plain:
        return None
    label, concepts = plain["label"], plain["concepts"]
    unread = {clean_name(name) for name in files.columns.names} - {
        clean_name(label),
        clean_name(concepts),
    }

    def count(batches: Batches) -> Batches:
        for batch in batches:
            raw = pa.table({"value": batch[label].cast(pa.string())})
            counted = raw.group_by("value").aggregate([([], "count_all")])
            yield _add_kind("value", counted.rename_columns(["label", "n_images"]))

            names, of_lists = encode_names(batch[label]), encode_names(batch[concepts].flatten())
            if (names.codes >= 0).all() and (of_lists.codes >= 0).all():
                images = batch.select([label, concepts]).rename_columns(["label", "concepts"])
                yield _add_kind("name", names_table(images))
            else:
                yield _add_kind("fault", pa.table({"n_images": [batch.num_rows]}))

    table = run(lambda kernel: files.scan(kernel, unread), count, _MOST_CELLS)
    kinds = {part: table.filter(pc.equal(table["kind"], part)) for part in ("value", "name")}
    rows = kinds["value"].select(["label", "n_images"]).to_pylist()
    n_counted = sum(map(len, kinds.values()))
    if n_counted < len(table) or len(table) > _MOST_CELLS or len(rows) > MOST_VALUES:
        return None

    counts = sorted(
        ((row["label"], row["n_images"]) for row in rows), key=lambda count: (-count[1], count[0])
    )
    return _PlainCounts({label: dict(counts)}, singles_of(kinds["name"]))


def _add_kind(kind: str, table: pa.Table) -> pa.RecordBatch:
    """Pack counts of a kind, with the columns of all kinds."""
    columns: dict[str, Any] = {"kind": pa.repeat(kind, len(table))}
    for name in ("label", "concept"):
        is_there = name in table.column_names
        columns[name] = table[name] if is_there else pa.nulls(len(table), pa.string())
    columns["n_images"] = table["n_images"].cast(pa.int64())
    return pack(pa.table(columns))


def _count_values(files: Files, reader: RowReader) -> Mapping[str, Mapping[str | None, int]]:
    """Rows with each value of each column that needs a decision; None is a missing value."""
    choices = field_choices(reader.options)
    settled = {name for name, choice in choices.items() if choice.kind == "ignore" or choice.edges}

    def count_batch(batch: pa.RecordBatch) -> pa.Table:
        table = reader.table(batch)
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
        counted = pa.concat_tables(parts).group_by(["column", "value"])
        counted = counted.aggregate([([], "count_all")])
        return counted.rename_columns({"count_all": "n_rows"})

    def count(batches: Batches) -> Batches:
        # A task that has seen too many values need not see more.
        counted = add_tables(map(count_batch, batches), MOST_VALUES)
        if counted is not None:
            yield pack(counted)

    table = run(files.scan, count, MOST_VALUES)
    values: dict[str, dict[str | None, int]] = {}
    for row in table.sort_by([("n_rows", "descending"), ("value", "ascending")]).to_pylist():
        values.setdefault(row["column"], {})[row["value"]] = row["n_rows"]

    if malformed := values.get(_MALFORMED):
        reason = f"{sum(malformed.values()):,} rows cannot be used"
        raise InputError(files.path, None, reason, f"Of one: {next(iter(malformed))}")
    if len(table) > MOST_VALUES:
        name = max(values, key=lambda name: len(values[name]))
        raise _refusal(files.path, name, f"has more than {MOST_VALUES:,} values")
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
    return InputError(
        file, None, f"where images stay in their files, the column {column!r} {reason}", remedy
    )
