"""Tables with a row per image, or per image and concept, in any table format."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import (
    ANNOTATION,
    Annotations,
    BoolArray,
    FloatArray,
    IntArray,
    Metadata,
    Progress,
    Setting,
    agree,
    clean_name,
    inflect,
    shorten_list,
)
from cobalance.ingest import frames
from cobalance.ingest.captions import (
    ABOUT,
    caption_column,
    is_text,
    read_caption_cells,
    table_texts,
)
from cobalance.ingest.concepts import CAPTION, labels_beside, labels_from_texts, load_vocabulary
from cobalance.ingest.fields import NO_CLASS, field_choices, field_names
from cobalance.ingest.frames import TEXT, ImageColumns, Labels, MentionColumns, TextColumns
from cobalance.ingest.names import Coded, encode_names, omit, put_before, recode_names, unreadable
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, RowProblems, first_rows
from cobalance.ingest.reader import format_of
from cobalance.ingest.tables import TABLES
from cobalance.ingest.tables.boxes import BoxColumns, find_boxes, read_beside, read_boxes
from cobalance.ingest.tables.columns import (
    ColumnMap,
    map_columns,
    no_column,
    refuse_unusable,
    text_column,
)
from cobalance.ingest.tables.concept_cells import read_cells, read_scores
from cobalance.ingest.tables.loading import Table, TableFormat
from cobalance.ingest.tables.values import name_values

_IMAGE_FILE = r"(?i)\S\.(jpe?g|png|webp|bmp|gif|tiff?)$"
_ROLES = ("id", "class", "concepts", "scores", "split", "uri", "width", "height")
_OF_IMAGES = ("class", "split", "uri", "width", "height")
_FEW = 0.05  # share of the images whose rows disagree on the class by mistake
_EXPORTED = {"synthetic", "original_uri"}  # columns of the tables of an export


@dataclass(frozen=True)
class TableReader:
    """Reader of tables in one format."""

    format: TableFormat
    uses: frozenset[str] = frozenset({"table", "vocabulary", "own captions"})

    @property
    def description(self) -> str:
        """Description of the format in one line."""
        return self.format.description

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has this format, judged by its content."""
        return self.format.detects(path, head)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Load and parse the rows."""
        problems = Problems(str(path), options)
        return read_table(self.format.load(path, problems, progress), options, progress)


def read_table(table: Table, options: ReadOptions, progress: Progress) -> Annotations:
    """Map the columns of a table and parse them.

    An image has one row, or several that agree on its class, split, path and size.

    Raises
    ------
    InputError
        A column is missing, or a record is malformed.
    """
    problems = table.problems
    _require_rows(table)
    boxes = find_boxes(table, options)
    if boxes is not None:
        table = boxes.others

    columns = _columns(table, options)
    several_classes = _name_several_things(table, columns, options)
    if several_classes:
        guessed = [text for text in columns.guessed if not text.startswith("class = ")]
        columns = ColumnMap(omit(columns.of, ["class"]), columns.indicators, tuple(guessed))
    progress("check", 0, table.n_rows)
    rows = table.rows()
    images, first, further = _images(table, columns, rows, options)

    # A box is of the object of its row, if the table names one, else of what its metadata says.
    mentions, notes = _mentions(table, columns, rows, options, progress)
    numbers: Mapping[str, FloatArray] = {}
    if boxes is not None:
        numbers, n_unsized = read_boxes(boxes, images, rows)
        if n_unsized:
            boxes_left_out = inflect(n_unsized, "relative boxes")
            text = "left out, as no columns name the images' width and height"
            notes.append(f"{boxes_left_out} {text}")

    if boxes is not None and boxes.object:
        columns.of["object"] = boxes.object
        notes.append(f"objects = {boxes.object} in {boxes.shown}")
        mentions.append(_objects(boxes, columns, numbers, rows, options))
        numbers = {}

    notes += _note_rows(int(further.sum()), several_classes=several_classes)
    labels, label_notes = _labels(table, columns, images, rows, options, progress)
    texts = _texts(table, columns)
    progress("check", table.n_rows, table.n_rows)

    is_image = ~rows.bad
    image_row: IntArray = np.arange(table.n_rows)
    if further.any():
        image_row = _image_rows(first, further, rows)
        mentions = [_move_mentions(part, image_row, rows) for part in mentions]
        is_image &= image_row == np.arange(table.n_rows)
    others = _others(table, columns, options)
    label_notes = (*label_notes, *_note_unusable(table, options))
    guesses = ", ".join([*columns.guessed, *notes])
    return frames.annotations(
        images,
        labels,
        mentions,
        is_image,
        texts=texts,
        metadata=[Metadata(np.where(rows.bad, -1, image_row), others, numbers)],
        roles=omit(columns.of, ["caption"]),
        skipped=problems.messages,
        notes=[f"{problems.file}: {guesses}", *label_notes] if guesses else label_notes,
    )


def _name_several_things(table: Table, columns: ColumnMap, options: ReadOptions) -> bool:
    """Whether a column called like classes names a thing a row, of several rows an image.

    Where few images have rows of two classes, these are faults.
    """
    if {"id", "class"} - columns.of.keys() or "concepts" in columns.of or columns.indicators:
        return False
    if options.class_column or options.each_row:
        return False

    codes = []
    for role in ("id", "class"):
        cells = table.columns[columns.of[role]]
        if cells.type != TEXT:
            return False
        encoded = cells.dictionary_encode().indices
        codes.append(pc.fill_null(encoded, -1).to_numpy(zero_copy_only=False).astype(np.int64))

    image, label = codes
    if len(np.unique(image)) == table.n_rows:
        return False

    pairs = np.unique(image * (label.max() + 2) + label + 1)
    n_labels = np.bincount(pairs // (label.max() + 2) + 1)
    return bool((n_labels > 1).sum() > _FEW * (n_labels > 0).sum())


def _note_rows(n_further: int, *, several_classes: bool) -> list[str]:
    """Notes on images of several rows."""
    notes = []
    if several_classes:
        notes.append("images have rows of several labels, which are concepts")
    if n_further:
        verb = agree(n_further, "adds", "add")
        notes.append(f"{inflect(n_further, 'rows')} {verb} concepts to images of earlier rows")
    return notes


def _require_rows(table: Table) -> None:
    if table.n_rows:
        return
    problems = table.problems
    reason = "has no rows"
    if problems.messages:
        reason += f" ({inflect(len(problems.messages), 'malformed records')} skipped)"
    raise problems.fatal(reason, "Give a file with a row for each image.")


def _columns(table: Table, options: ReadOptions) -> ColumnMap:
    """Find the columns that the options name."""
    roles = list(_ROLES)
    if options.classes_come_later or options.searches_classes:
        roles.remove("class")
    needs_captions = bool(options.vocabulary) or options.searches_own_captions
    if needs_captions:
        roles.append("caption")

    columns = map_columns(table, options, roles)
    if needs_captions and "caption" not in columns.of:
        raise table.problems.fatal(
            no_column(table, "caption", "captions"),
            ("Set ", Setting("caption_column"), " to one of them."),
        )
    return columns


def _images(
    table: Table, columns: ColumnMap, rows: RowProblems, options: ReadOptions
) -> tuple[ImageColumns, IntArray, BoolArray]:
    """Images of all rows, the first row of each image, and the rows that only add to it."""
    if "id" not in columns.of:
        raise table.problems.fatal(
            no_column(table, "id", "the image id"),
            ("Set ", Setting("id_column"), " to one of them."),
        )
    name = columns.of["id"]
    written = text_column(table, name, Setting("id_column"))
    if written.null_count:
        written = pc.fill_null(written, "")
    rows.report(
        unreadable(written),
        lambda row: f"the id {written[row].as_py()[:60]!r} in column {name!r} is not readable text",
        "Give each image an id of printable characters",
    )
    ids = _number_repeats(written) if options.each_row else written

    index = pd.Index(ids.to_pandas())
    first = first_rows(index)
    further = _further_rows(table, columns, first, options)
    rows.report(
        (first != np.arange(len(first))) & ~further,
        lambda row: f"the image id {index[row]!r} is on {table.place(int(first[row]))} already",
        (
            "Give each image one row, or rows that agree on class, split, path and size, or set ",
            Setting("each_row", "true"),
        ),
    )

    uris = pa.nulls(table.n_rows, TEXT)
    if "uri" in columns.of:
        uris = text_column(table, columns.of["uri"], Setting("uri_column"))
        uris = pc.if_else(pc.equal(uris, ""), pa.scalar(None, TEXT), uris)
    elif len(ids) and pc.all(pc.match_substring_regex(written, _IMAGE_FILE)).as_py():
        # As in CelebA's lists, whose images are named by their files.
        uris = written
    images = ImageColumns(
        ids,
        uris,
        _size(table, columns, "width", rows),
        _size(table, columns, "height", rows),
        _split(table, columns, options, rows),
    )
    return images, first, further


def _number_repeats(ids: pa.Array) -> pa.Array:
    """Ids with a number after those that repeat."""
    names = ids.to_pandas()
    number = names.groupby(names).cumcount().add(1).astype(str)
    return pa.array(names.where(~names.duplicated(keep=False), names + "#" + number), TEXT)


def _split(table: Table, columns: ColumnMap, options: ReadOptions, rows: RowProblems) -> Coded:
    if options.split is not None:
        return Coded.constant(options.split, table.n_rows)
    if "split" not in columns.of:
        return Coded.none(table.n_rows)

    column = encode_names(_named_column(table, columns, "split", options))
    is_faulty = (column.codes < 0) & ~column.empty
    rows.report(is_faulty, lambda row: f"the split {column.fault(row)}", "Correct it")
    return column


def _named_column(table: Table, columns: ColumnMap, role: str, options: ReadOptions) -> pa.Array:
    """The column of classes or splits as text, with the names of its codes."""
    name = columns.of[role]
    names = field_names(options).get(name, {})
    if not names:
        return text_column(table, name, Setting(f"{role}_column"))
    return name_values(table.columns[name], names)


def _size(table: Table, columns: ColumnMap, role: str, rows: RowProblems) -> pa.Array:
    if role not in columns.of:
        return pa.nulls(table.n_rows, pa.int64())
    name = columns.of[role]
    column = table.columns[name]
    if pa.types.is_floating(column.type):
        column = pc.cast(pc.cast(column, pa.int64(), safe=False), TEXT)
    else:
        column = text_column(table, name, Setting(f"{role}_column"))

    # Few sizes are different.
    encoded = column.dictionary_encode()
    text = pc.utf8_trim_whitespace(encoded.dictionary)
    is_size = pc.match_substring_regex(text, r"^0*[1-9][0-9]{0,8}$")
    is_faulty = pc.and_not(pc.not_equal(text, ""), is_size).take(encoded.indices)
    rows.report(
        pc.fill_null(is_faulty, False).to_numpy(zero_copy_only=False),
        lambda row: f"the {role} {column[row].as_py().strip()!r} is not a size in pixels",
        "Write a whole number, or leave it empty",
    )
    sizes = pc.cast(pc.if_else(is_size, text, pa.scalar(None, TEXT)), pa.int64())
    return sizes.take(encoded.indices)


def _mentions(
    table: Table, columns: ColumnMap, rows: RowProblems, options: ReadOptions, progress: Progress
) -> tuple[list[MentionColumns], list[str]]:
    """Mentions from concept columns and captions, with notes on how cells were parsed."""
    mentions, notes = [], []
    if "concepts" in columns.of:
        column = table.columns[columns.of["concepts"]]
        cells = read_cells(column, options.delimiter, rows, may_be_spaced=True)
        numbers = dict(cells.numbers)
        if "scores" in columns.of:
            numbers["score"] = read_scores(table.columns[columns.of["scores"]], cells, rows)
        mentions.append(MentionColumns(cells.row, cells.concept, ANNOTATION, numbers))
        notes.append(f"concepts are {cells.note}")

    if options.vocabulary and "caption" in columns.of:
        row, captions = _captions(table, columns)
        vocabulary = load_vocabulary(options)
        caption_row, concept = vocabulary.find_all(captions, table.problems, progress)
        mentions.append(MentionColumns(row[caption_row], concept, CAPTION, {}))
    return mentions, notes


def _objects(
    boxes: BoxColumns,
    columns: ColumnMap,
    numbers: Mapping[str, FloatArray],
    rows: RowProblems,
    options: ReadOptions,
) -> MentionColumns:
    """The object of each row; codes without names have the column's before them."""
    objects = encode_names(_named_column(boxes.table, columns, "object", options))
    is_faulty = (objects.codes < 0) & ~objects.empty
    rows.report(is_faulty, lambda row: f"a concept {objects.fault(row)}", "Correct its name")
    names = objects.names
    if all(map(str.isdecimal, names)):
        names = put_before(boxes.object, names)
    concept = Coded(objects.codes, names)
    further_numbers, crowds = read_beside(boxes)
    numbers = {**further_numbers, **numbers}

    row: IntArray = np.arange(len(concept.codes))
    return MentionColumns(row, concept, ANNOTATION, numbers, crowds=crowds)


def _captions(table: Table, columns: ColumnMap) -> tuple[IntArray, list[str | None]]:
    """Row and text of each caption to search."""
    name = columns.of["caption"]
    if not is_text(table.columns[name]):
        # It holds no text: this raises the error that says so.
        text_column(table, name, Setting("caption_column"))
    return read_caption_cells(table, name)


def _texts(table: Table, columns: ColumnMap) -> TextColumns:
    """Captions and licences of images; the first row of an image counts."""
    name = columns.of.get("caption")
    if name is None or not is_text(table.columns[name]):
        name = caption_column(table, [*columns.of.values(), *columns.indicators])
    return table_texts(table, name)


def _others(table: Table, columns: ColumnMap, options: ReadOptions) -> dict[str, pa.Array]:
    """The columns without a role; only those asked for where the options name the concepts."""
    asked_columns = {*map(clean_name, options.concept_columns), *field_choices(options)}
    asked_columns.add(columns.of.get("cluster", ""))
    with_role = {*columns.of.values(), *ABOUT}
    with_role.add(caption_column(table, [*with_role]) or "")
    are_named = options.concepts_column or options.concept_columns or not options.by_name
    if are_named or {*table.columns} >= _EXPORTED:
        with_role = {*table.columns}
    left_out = with_role - asked_columns
    return omit(table.columns, left_out)


def _note_unusable(table: Table, options: ReadOptions) -> tuple[str, ...]:
    """A note on the columns whose types no reader can use; InputError where one is asked for."""
    for name in field_choices(options):
        refuse_unusable(table, name, Setting("field"))

    # Bytes are pictures, which are not left out.
    left_out = [
        f"{name} ({kind.partition('<')[0]})"
        for name, kind in table.unusable.items()
        if "binary" not in kind
    ]
    if not left_out:
        return ()
    listed = shorten_list(left_out)
    return (f"{table.problems.file}: columns left out, as their types cannot be used: {listed}",)


def _labels(
    table: Table,
    columns: ColumnMap,
    images: ImageColumns,
    rows: RowProblems,
    options: ReadOptions,
    progress: Progress,
) -> tuple[Labels, tuple[str, ...]]:
    """The class of each image, from a column or from captions, and notes."""
    if options.searches_own_captions:
        row, captions = _captions(table, columns)
        return labels_from_texts(row, captions, table.n_rows, options, table.problems, progress), ()
    if options.classes_come_later or options.searches_classes:
        return labels_beside(images, options, table.problems, progress)
    if "class" not in columns.of:
        why = f"{table.problems.file}: {no_column(table, 'class', 'the class')}, {NO_CLASS}"
        return Labels.none(table.n_rows), (why,)

    name = columns.of["class"]
    column = encode_names(_named_column(table, columns, "class", options))
    rows.report(
        column.codes < 0, lambda row: f"the class {column.fault(row)}", "Name the image's class"
    )
    notes: tuple[str, ...] = ()
    values = set(column.names)
    if values == {"-1", "1"} or (name in table.concept_columns and values <= {"-1", "0", "1"}):
        # An indicator as in CelebA, whose name says what 1 means.
        names = {value: name if value == "1" else f"not {name}" for value in column.names}
        column = recode_names(column.codes, list(names.values()))
        meanings = (f"{value} is {names[value]!r}" for value in sorted(names, reverse=True))
        notes = (f"{table.problems.file}: class {', and '.join(meanings)}",)
    return Labels(column, Coded.none(table.n_rows)), notes


def _further_rows(
    table: Table, columns: ColumnMap, first: IntArray, options: ReadOptions
) -> BoolArray:
    """Rows of the image of a `first` row that agree with it on class, split, path and size."""
    is_further: BoolArray = first != np.arange(len(first))
    if not is_further.any() or options.searches_own_captions:
        return np.zeros(len(first), dtype=bool)
    for role in _OF_IMAGES:
        if role in columns.of:
            is_further &= _agrees(table.columns[columns.of[role]], first)
    return is_further


def _agrees(column: pa.Array, first: IntArray) -> BoolArray:
    if pa.types.is_nested(column.type):
        return np.zeros(len(first), dtype=bool)
    codes = pc.fill_null(column.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(codes == codes[first], dtype=np.bool_)


def _image_rows(first: IntArray, further: BoolArray, rows: RowProblems) -> IntArray:
    """The first sound row of each row's image; -1 if it has none."""
    n = len(first)
    sound = np.flatnonzero((further | (first == np.arange(n))) & ~rows.bad)
    of_image = np.full(n, -1, dtype=np.int64)
    # Backwards, so that the first of an image's sound rows is written last.
    of_image[first[sound][::-1]] = sound[::-1]
    return np.take(of_image, first)


def _move_mentions(
    mentions: MentionColumns, image_row: IntArray, rows: RowProblems
) -> MentionColumns:
    """Give the mentions of sound rows to their images' rows, and drop the others."""
    codes = np.where(rows.bad[mentions.image], -1, mentions.concept.codes)
    concept = Coded(codes, mentions.concept.names)
    return replace(mentions, image=image_row[mentions.image], concept=concept)


PLUGINS = tuple(format_of(name, TableReader(form)) for name, form in TABLES.items())
