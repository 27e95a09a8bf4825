"""Join further tables and lists to annotations, by the id or the file name of an image."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, IntArray, Metadata, Progress, Setting, inflect, shorten_list
from cobalance.ingest.captions import image_rows
from cobalance.ingest.fields import field_names, has_classes, with_class, with_split
from cobalance.ingest.frames import TEXT, take_cells
from cobalance.ingest.names import (
    Coded,
    NameColumn,
    encode_names,
    omit,
    recode_names,
    split_of_file,
    usual_splits,
)
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, RowProblems, first_rows
from cobalance.ingest.tables import load_table
from cobalance.ingest.tables.columns import map_columns, text_column
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.plain_list import PRESENCE

_TRIED = 8  # text columns in which images are looked for


def with_joins(
    annotations: Annotations, options: ReadOptions, file: str, progress: Progress
) -> Annotations:
    """Add the columns of `ReadOptions.join`, and the classes of `ReadOptions.class_file`.

    A column named like those of classes gives the class of images without any, one named like
    those of splits, or else the file's name, the split; all else is metadata. Images that a file
    does not name lack its columns.

    Raises
    ------
    InputError
        A file cannot be read, has none of the images, or gives an image two classes.
    """
    takes_class = not has_classes(annotations)
    n_images = len(annotations.images)
    classes: Coded | None = None
    class_files = list[str]()
    for path in filter(None, [options.class_file, *options.join]):
        annotations, own_classes = _join(annotations, path, options, file, progress, takes_class)
        if own_classes is not None:
            class_files.append(path.name)
            classes = _add_classes(classes, own_classes, n_images)

    if classes is None:
        return annotations
    # A list of a split names the classes of its images alone: those of another may follow.
    return with_class(annotations, classes, f"images without a class in {', '.join(class_files)}")


def _add_classes(classes: Coded | None, others: Coded, n_images: int) -> Coded:
    """Classes of images, with others where they lack one."""
    earlier = classes or Coded.none(n_images)
    names = [*earlier.names, *others.names]
    moved = np.where(others.codes < 0, -1, others.codes + len(earlier.names))

    codes = np.where(earlier.codes < 0, moved, earlier.codes)
    both = recode_names(codes, names)
    return Coded(both.codes, both.names)


def _join(
    annotations: Annotations,
    path: Path,
    options: ReadOptions,
    file: str,
    progress: Progress,
    takes_class: bool,
) -> tuple[Annotations, Coded | None]:
    """Add the columns of one file to the images that its rows name; the classes that it gives."""
    needs_class = path == options.class_file
    problems = Problems(str(path), options)
    table = load_table(path, problems, progress)
    roles = dict(map_columns(table, ReadOptions(), ("id", "class", "split", "uri")).of)

    table, key, image = _match_images(table, roles, annotations, file)
    columns = omit(table.columns, [key])
    if needs_class and "class" not in roles and len(columns) == 1:
        (roles["class"],) = columns
    rows = table.rows()
    n_images = len(annotations.images)
    notes = [f"{_number_of(image):,} of {inflect(n_images, 'images')} by {key}"]
    classes = None
    if "class" in roles and (needs_class or takes_class):
        notes.append(f"class = {roles['class']}")
        classes = _read_classes(table, roles["class"], key, image, rows)
    elif needs_class:
        raise problems.fatal(
            f"there is no column 'label' (its columns: {shorten_list(table.columns)})",
            "Name the columns image_id and label.",
        )
    image = np.where(rows.bad, -1, image)

    named_split = split_of_file(path.name)
    split = None
    if "split" in roles:
        split = usual_splits(encode_names(text_column(table, roles["split"], Setting("join"))))
    elif named_split:
        split = Coded.constant(named_split, table.n_rows)
        notes.append(f"split = {named_split}")
    elif not columns:
        raise problems.fatal(
            "lists images alone, and its name says no split",
            "Call it as its split, such as train.txt.",
        )
    if split is not None:
        annotations = with_split(annotations, _by_image(split, image, n_images))

    for role in ("class", "split"):
        columns.pop(roles.get(role, ""), None)
    notes += columns
    if columns:
        annotations = _with_metadata(annotations, Metadata(image, columns), options, problems)
    annotations = replace(
        annotations,
        notes=(*annotations.notes, f"{path}: {shorten_list(notes)}"),
        skipped=(*annotations.skipped, *problems.messages),
    )
    if classes is None:
        return annotations, None
    return annotations, _by_image(classes, image, n_images)


def _match_images(
    table: Table, roles: dict[str, str], annotations: Annotations, file: str
) -> tuple[Table, str, IntArray]:
    """The rows, the column by which they are matched, and the image of each, -1 for none."""
    key, image = _find_images(table, roles, annotations)
    if not _number_of(image):
        table, key, image = _repeat_rows(table, key, annotations)

    if len(annotations.images) and not _number_of(image):
        first, first_id = table.columns[key][0].as_py(), annotations.images["id"].iloc[0]
        raise table.problems.fatal(
            f"has none of the images of {file}: it has {first!r}, "
            f"and there the first is {first_id!r}",
            "Give each image the same id or file name in both files.",
        )
    return table, key, image


def _read_classes(
    table: Table, column: str, key: str, image: IntArray, rows: RowProblems
) -> NameColumn:
    """Classes of the rows; those that are no names, or a second class of an image, are reported."""
    classes = encode_names(text_column(table, column, Setting("class_column")))
    rows.report(classes.codes < 0, lambda row: f"the class {classes.fault(row)}", "Correct it")

    earlier = classes.codes[first_rows(pd.Index(image))]
    rows.report(
        (image >= 0) & (earlier >= 0) & (classes.codes != earlier),
        lambda row: f"the image {table.columns[key][row].as_py()!r} has a class already",
        "Leave one out",
    )
    return classes


def _with_metadata(
    annotations: Annotations, joined: Metadata, options: ReadOptions, problems: Problems
) -> Annotations:
    """Annotations with the columns of rows as metadata; attributes of CUB become a column each."""
    metadata = joined.move(np.arange(len(annotations.images)))
    if PRESENCE in metadata.columns:
        attribute = next(iter(metadata.columns))
        annotations = replace(annotations, roles={**annotations.roles, "attribute": attribute})
        metadata = _flags(metadata, field_names(options).get(attribute, {}), problems)
    return replace(annotations, metadata=(*annotations.metadata, metadata))


def _flags(listed: Metadata, names: Mapping[str, str], problems: Problems) -> Metadata:
    """Columns of 0 and 1 from records of an attribute and whether the image has it."""
    attribute, present, *_ = listed.columns
    frame = pa.table(dict(listed.columns)).to_pandas().assign(image=listed.image)
    if not frame[present].isin(["0", "1"]).all():
        raise problems.fatal(f"{attribute} is not 0 or 1 in its third column", "Correct it.")

    # An image with several rows of one attribute has it if any of them says so.
    wide = frame.pivot_table(present, "image", attribute, "max")
    problems.within("columns", len(wide.columns))
    flags = {
        names.get(str(code), f"{attribute} {code}"): pa.array(wide[code], TEXT) for code in wide
    }
    return Metadata(wide.index.to_numpy(), flags)


def _find_images(
    table: Table, roles: dict[str, str], annotations: Annotations
) -> tuple[str, IntArray]:
    """The column that names most images, and the image of each row, -1 for none.

    Names are those of the images, else the values of a column of the metadata that differ in all.
    """
    usual = list(filter(None, map(roles.get, ("id", "uri"))))
    texts = [name for name, column in table.columns.items() if column.type == TEXT][:_TRIED]
    if not texts:
        # No column holds text: this raises the error that says so.
        text_column(table, next(iter(table.columns)), Setting("join"))

    # Columns that are called like ids or files come before others, and the images' own names
    # before their metadata: numbers in any column may be ids of other things.
    best, best_image = texts[0], np.full(table.n_rows, -1)
    for names, by_metadata in ((usual, False), (texts, False), (texts, True)):
        for name in names:
            keys = table.columns[name].to_pandas()
            if by_metadata:
                image = _rows_of(keys, annotations)
            else:
                image = image_rows([keys], annotations.images)
            if _number_of(image) > _number_of(best_image):
                best, best_image = name, image
        if (best_image >= 0).any():
            break
    return best, best_image


def _repeat_rows(table: Table, key: str, annotations: Annotations) -> tuple[Table, str, IntArray]:
    """Repeat a row of a shared value, such as a patient, for each image that has it.

    The column is one of the metadata, too, and has another value in each row of the table. Without
    such a column: the table, `key`, and -1 for each row.
    """
    best, row_of, image = key, np.arange(table.n_rows), np.full(table.n_rows, -1)
    for part in annotations.metadata:
        # With several rows an image, as of objects, a value would not be the image's own.
        if len(np.unique(part.image)) < len(part.image):
            continue

        for name, cells in part.columns.items():
            keys = table.columns.get(name)
            if keys is None or {keys.type, cells.type} != {TEXT} or len(keys.unique()) < len(keys):
                continue
            row = pd.Index(keys.to_pandas()).get_indexer(pd.Index(cells.to_pandas()))
            has_value = cells.is_valid().to_numpy(zero_copy_only=False)
            matches = (row >= 0) & (part.image >= 0) & has_value
            if matches.sum() > _number_of(image):
                best, row_of, image = name, row[matches], part.image[matches]

    columns = take_cells(table.columns, row_of)
    repeated = replace(
        table, columns=columns, n_rows=len(row_of), place=lambda row: table.place(row_of[row])
    )
    return repeated, best, image


def _number_of(image: IntArray) -> int:
    """Number of different images that rows are of."""
    return len(np.unique(image[image >= 0]))


def _rows_of(keys: "pd.Series[str]", annotations: Annotations) -> IntArray:
    """Images by a column of the metadata that differs in all; the first that has a value."""
    image = np.full(len(keys), -1)
    for part in annotations.metadata:
        for column in part.columns.values():
            if column.type == TEXT and pc.count_distinct(column).as_py() == len(column):
                row = pd.Index(column.to_pandas()).get_indexer(pd.Index(keys))
                # The last place, of -1, is that of keys without a row.
                image = np.where(image < 0, np.append(part.image, -1)[row], image)
    return image


def _by_image(column: Coded, image: IntArray, n: int) -> Coded:
    """Names of images by their rows; of several rows the first."""
    codes = np.full(n + 1, -1)
    # Backwards, so that the first row of an image is written last. Rows of no image, -1, go to
    # the place after the last image.
    codes[image[::-1]] = column.codes[::-1]
    return Coded(codes[:n], column.names)
