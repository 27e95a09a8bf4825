"""The one step from metadata to concepts, classes and splits, for every format."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import (
    ALL_IMAGES,
    ANNOTATION,
    Annotations,
    Field,
    InputError,
    Metadata,
    Setting,
    clean_name,
    suggest_names,
)
from cobalance.ingest.fields.choices import Choice, field_choices, field_names
from cobalance.ingest.fields.concepts import ColumnConcepts, read_column
from cobalance.ingest.fields.nested_cells import unfold
from cobalance.ingest.fields.report import describe_fields, offer_class
from cobalance.ingest.fields.roles import with_class
from cobalance.ingest.frames import MentionColumns, add_mentions, take_rows
from cobalance.ingest.names import Coded, categorical, recode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.values import encode_values, name_values

_ROLES = ("class", "split", "cluster")


def apply_fields(annotations: Annotations, options: ReadOptions, file: str) -> Annotations:
    """Make concepts of the metadata, and classes, splits and clusters; report each column.

    Raises
    ------
    OptionError
        A choice of ``field`` cannot be used.
    InputError
        An option names a column that is missing, or asks for what a column does not hold.
    """
    names = field_names(options)
    problems = Problems(file, options)
    choices = dict.fromkeys(map(clean_name, options.concept_columns), Choice("flag"))
    choices |= field_choices(options)
    parts = tuple(unfold(part, problems) for part in annotations.metadata)
    annotations = replace(annotations, metadata=parts)
    columns = list(dict.fromkeys(chain.from_iterable(part.columns for part in parts)))

    # An option names the column of a role; else the reader may, unless the column is chosen for
    # another use or the images have the role already.
    field_of: dict[str, Field] = {}
    for role in _ROLES:
        default = annotations.roles.get(role, "")
        if role in annotations.images or default in choices:
            default = ""
        column = clean_name(getattr(options, f"{role}_column") or default)
        if column in columns:
            annotations, field_of[column] = _take_role(annotations, column, role, names, file)

    # Columns that the reader took for roles itself are no metadata, and may be named as well.
    known_columns = {*columns, *annotations.roles.values()}
    wanted_columns: list[tuple[Setting, Iterable[str | None]]] = [
        (Setting(f"{role}_column"), [getattr(options, f"{role}_column")]) for role in _ROLES
    ]
    wanted_columns += [(Setting("field"), choices), (Setting("names"), names)]
    for setting, requested in wanted_columns:
        for name in map(clean_name, filter(None, requested)):
            if name not in known_columns:
                listed = suggest_names(name, columns, "Its columns")
                raise InputError(
                    file,
                    None,
                    f"there is no column {name!r}",
                    (listed, " Set ", setting, " to one of them."),
                )
    return add_concepts(annotations, choices, names, field_of, problems)


def _take_role(
    annotations: Annotations,
    column: str,
    role: str,
    names: Mapping[str, Mapping[str, str]],
    file: str,
) -> tuple[Annotations, Field]:
    """Take the images' class, split or cluster; those without a class are set aside."""
    coded, several = _of_images(annotations, column, names.get(column, {}), file)
    n = len(coded.codes)
    missing = int((coded.codes < 0).sum())
    field = Field(column, role, len(coded.names), n - missing, missing - several)

    if role == "class":
        return with_class(annotations, coded, "images without a class", several), field
    if several:
        raise InputError(
            file,
            None,
            f"{several:,} images have several values in the column {column!r}",
            f"Give each image one {role}.",
        )
    images = annotations.images.assign(**{role: categorical(coded.codes, coded.names)})
    return replace(annotations, images=images), field


def _of_images(
    annotations: Annotations, column: str, names: Mapping[str, str], file: str
) -> tuple[Coded, int]:
    """The value of each image, -1 for none or several that differ; how many have several."""
    part = next(part for part in annotations.metadata if column in part.columns)
    cells = part.columns[column]
    if pa.types.is_nested(cells.type):
        raise InputError(file, None, f"the column {column!r} holds lists", "Name another column.")
    values = encode_values(name_values(cells, names))
    coded = recode_names(values.codes, values.texts)

    # A pair of an image and a code is one number, so that equal pairs are found at once.
    n, width = len(annotations.images), max(len(coded.names), 1)
    has_value = np.flatnonzero((coded.codes >= 0) & (part.image >= 0))
    pairs = pd.unique(part.image[has_value] * width + coded.codes[has_value])
    image, code = np.divmod(pairs, width)
    of_image = np.full(n, -1, dtype=np.int64)
    of_image[image] = code
    has_several = np.bincount(image, minlength=n) > 1
    of_image[has_several] = -1
    return Coded(of_image, coded.names), int(has_several.sum())


def add_concepts(
    annotations: Annotations,
    choices: Mapping[str, Choice],
    names: Mapping[str, Mapping[str, str]],
    taken: Mapping[str, Field],
    problems: Problems,
) -> Annotations:
    """Make concepts of the metadata but for columns that are `taken`; report each."""
    n = len(annotations.images)
    mentions: list[MentionColumns] = []
    fields = []
    total = 0
    for part in annotations.metadata:
        for name, cells in part.columns.items():
            if name in taken:
                fields.append(taken[name])
                continue
            column = read_column(name, cells, choices.get(name), names.get(name, {}), problems)
            mention = _mention(part, column, n)
            mentions.append(mention)
            total += len(mention.image)
            problems.within("mentions", total)

            shows_one = np.zeros(n, dtype=bool)
            shows_one[mention.image] = True
            counts = len(mention.concept.names), int(shows_one.sum()), column.missing
            fields.append(Field(name, column.kind, *counts, column.why))

    annotations = add_mentions(annotations, mentions)
    notes = describe_fields(fields, problems.file)
    if annotations.images["class_name"].eq(ALL_IMAGES).all():
        notes += offer_class(fields, problems.file)
    if annotations.mentions.empty and n and annotations.roles:
        notes.append(f"{problems.file}: no column became a concept")
    return replace(
        annotations, metadata=(), fields=tuple(fields), notes=(*annotations.notes, *notes)
    )


def _mention(part: Metadata, column: ColumnConcepts, n_images: int) -> MentionColumns:
    """Mentions of a column; of equal ones without numbers, as of several rows, one an image."""
    concept = recode_names(column.code, column.names)
    image = part.image[column.record]
    rows = np.flatnonzero((image >= 0) & (concept.codes >= 0))
    if not part.numbers and not column.numbers and len(part.image) > n_images:
        pairs = image[rows] * len(column.names) + concept.codes[rows]
        rows = rows[np.sort(np.unique(pairs, return_index=True)[1])]

    numbers = take_rows(part.numbers, column.record[rows])
    numbers |= take_rows(column.numbers, rows)
    used = np.unique(concept.codes[rows])
    names = np.array(concept.names, dtype=object)[used].tolist()
    coded = Coded(np.searchsorted(used, concept.codes[rows]), names)
    return MentionColumns(image[rows], coded, ANNOTATION, numbers)
