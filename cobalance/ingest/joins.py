"""Join further tables and lists to annotations, by the id or the file name of an image."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import IntArray
from cobalance.base.errors import Setting
from cobalance.base.plurals import inflect
from cobalance.base.progress import Progress
from cobalance.base.records import Annotations, Metadata
from cobalance.ingest.captions.caption_file import image_rows
from cobalance.ingest.fields.choices import field_names
from cobalance.ingest.fields.roles import has_classes, with_class, with_split
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import Coded, encode_names, split_of_file, usual_splits
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, first_rows
from cobalance.ingest.tables import load_table
from cobalance.ingest.tables.columns import map_columns, shorten_list, text_column
from cobalance.ingest.tables.lists import PRESENT
from cobalance.ingest.tables.loading import Table

_TRIED = 8  # columns in which images are looked for


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
    for path in filter(None, [options.class_file, *options.join]):
        annotations = _join(annotations, path, options, file, progress)
    return annotations


def _join(
    annotations: Annotations, path: Path, options: ReadOptions, file: str, progress: Progress
) -> Annotations:
    needs_class = path == options.class_file
    problems = Problems(str(path), options)
    table = load_table(path, problems, progress)
    of = dict(map_columns(table, ReadOptions(), ("id", "class", "split", "uri")).of)
    key, image = _find_images(table, of, annotations)
    if not _number_of(image):
        table, key, image = _repeat_rows(table, key, annotations)
    rows = table.rows()
    n, known = len(annotations.images), _number_of(image)
    if n and not known:
        first, own = table.columns[key][0].as_py(), annotations.images["id"].iloc[0]
        raise problems.fatal(
            f"has none of the images of {file}: it has {first!r}, and there the first is {own!r}",
            "Give each image the same id or file name in both files.",
        )
    columns = {name: column for name, column in table.columns.items() if name != key}
    if needs_class and "class" not in of and len(columns) == 1:
        (of["class"],) = columns
    told = [f"{known:,} of {inflect(n, 'images')} by {key}"]
    classes = None
    if "class" in of and (needs_class or not has_classes(annotations)):
        told.append(f"class = {of['class']}")
        given = text_column(table, of["class"], Setting("class_column"))
        classes = encode_names(given)
        rows.report(classes.codes < 0, lambda row: f"the class {classes.fault(row)}", "Correct it")
        earlier = classes.codes[first_rows(pd.Index(image))]
        rows.report(
            (image >= 0) & (earlier >= 0) & (classes.codes != earlier),
            lambda row: f"the image {table.columns[key][row].as_py()!r} has a class already",
            "Leave one out",
        )
    elif needs_class:
        reason = f"there is no column 'label' (its columns: {shorten_list(table.columns)})"
        raise problems.fatal(reason, "Name the columns image_id and label.")
    image = np.where(rows.bad, -1, image)
    named = split_of_file(path.name)
    split = Coded.constant(named, table.n_rows) if named else None
    if "split" in of:
        split = usual_splits(encode_names(text_column(table, of["split"], Setting("join"))))
    elif split is not None:
        told.append(f"split = {named}")
    elif not columns:
        reason = "lists images alone, and its name says no split"
        raise problems.fatal(reason, "Call it as its split, such as train.txt.")
    if split is not None:
        annotations = with_split(annotations, _by_image(split, image, n))
    roles = {of.get("class"), of.get("split")}
    others = {name: column for name, column in columns.items() if name not in roles}
    metadata = Metadata(image, others).move(np.arange(n))
    if PRESENT in others:
        attribute = next(iter(others))
        annotations = replace(annotations, roles={**annotations.roles, "attribute": attribute})
        metadata = _flags(metadata, field_names(options).get(attribute, {}), problems)
    found = replace(
        annotations,
        metadata=(*annotations.metadata, *([metadata] if others else [])),
        notes=(*annotations.notes, f"{path}: {shorten_list([*told, *others])}"),
        skipped=(*annotations.skipped, *problems.messages),
    )
    if classes is None:
        return found
    return with_class(found, _by_image(classes, image, n), f"images without a class in {path.name}")


def _flags(listed: Metadata, names: Mapping[str, str], problems: Problems) -> Metadata:
    """Columns of 0 and 1 from records of an attribute and whether the image has it."""
    attribute, present, *_ = listed.columns
    columns = {name: column.to_pandas() for name, column in listed.columns.items()}
    frame = pd.DataFrame(columns | {"image": listed.image})
    if not frame[present].isin(["0", "1"]).all():
        raise problems.fatal(f"{attribute} is not 0 or 1 in its third column", "Correct it.")
    wide = frame.pivot_table(present, "image", attribute, "max")
    problems.within("columns", len(wide.columns))
    flags = {
        names.get(str(code), f"{attribute} {code}"): pa.array(wide[code], TEXT) for code in wide
    }
    return Metadata(wide.index.to_numpy(), flags)


def _find_images(
    table: Table, of: dict[str, str], annotations: Annotations
) -> tuple[str, IntArray]:
    """The column that names most images, and the image of each row, -1 for none.

    Names are those of the images, else the values of a column of the metadata that differ in all.
    """
    usual = [of[role] for role in ("id", "uri") if role in of]
    texts = [name for name, column in table.columns.items() if column.type == TEXT][:_TRIED]
    if not texts:
        text_column(table, next(iter(table.columns)), Setting("join"))  # raises
    best, found = texts[0], np.full(table.n_rows, -1)
    for names, by_columns in ((usual, False), (texts, False), (texts, True)):
        for name in names:
            keys = table.columns[name].to_pandas()
            image = image_rows([keys], annotations.images)
            if by_columns:
                image = _rows_of(keys, annotations)
            if _number_of(image) > _number_of(found):
                best, found = name, image
        if (found >= 0).any():
            break
    return best, found


def _repeat_rows(table: Table, key: str, annotations: Annotations) -> tuple[Table, str, IntArray]:
    """Repeat a row of a shared value, such as a patient, for each image that has it.

    The column is one of the metadata, too, and has another value in each row of the table. Without
    such a column: the table, `key`, and -1 for each row.
    """
    best, of_row, image = key, np.arange(table.n_rows), np.full(table.n_rows, -1)
    for part in annotations.metadata:
        is_of_images = len(np.unique(part.image)) == len(part.image)
        for name, cells in part.columns.items() if is_of_images else ():
            keys = table.columns.get(name)
            if keys is None or {keys.type, cells.type} != {TEXT} or len(keys.unique()) < len(keys):
                continue
            at = pd.Index(keys.to_pandas()).get_indexer(pd.Index(cells.to_pandas()))
            known = (at >= 0) & (part.image >= 0) & cells.is_valid().to_numpy(zero_copy_only=False)
            if known.sum() > _number_of(image):
                best, of_row, image = name, at[known], part.image[known]
    columns = {name: column.take(pa.array(of_row)) for name, column in table.columns.items()}
    repeated = replace(
        table, columns=columns, n_rows=len(of_row), place=lambda row: table.place(of_row[row])
    )
    return repeated, best, image


def _number_of(image: IntArray) -> int:
    """Images that rows are of."""
    return len(np.unique(image[image >= 0]))


def _rows_of(keys: "pd.Series[str]", annotations: Annotations) -> IntArray:
    """Images by a column of the metadata."""
    found = np.full(len(keys), -1)
    for part in annotations.metadata:
        for column in part.columns.values():
            if column.type == TEXT and pc.count_distinct(column).as_py() == len(column):
                at = pd.Index(column.to_pandas()).get_indexer(pd.Index(keys))
                found = np.where(found < 0, np.append(part.image, -1)[at], found)
    return found


def _by_image(column: Coded, image: IntArray, n: int) -> Coded:
    """Names of images by their rows; of several rows the first."""
    codes = np.full(n + 1, -1)
    codes[image[::-1]] = column.codes[::-1]
    return Coded(codes[:n], column.names)
