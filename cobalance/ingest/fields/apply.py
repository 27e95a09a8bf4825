"""The one step from metadata to concepts, classes and splits, for every format."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base.errors import InputError, Setting, suggest_names
from cobalance.base.names import clean_name
from cobalance.base.records import ALL_IMAGES, ANNOTATION, Annotations, Field, Metadata
from cobalance.ingest.fields.choices import Choice, field_choices, field_names
from cobalance.ingest.fields.concepts import Found, read_column
from cobalance.ingest.fields.lists import unfold
from cobalance.ingest.fields.report import describe_fields, offer_class
from cobalance.ingest.fields.roles import with_class
from cobalance.ingest.fields.values import encode_values, name_values
from cobalance.ingest.frames import MentionColumns, add_mentions
from cobalance.ingest.names import Coded, categorical, recode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems

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
    choices, names = field_choices(options), field_names(options)
    problems = Problems(file, options)
    choices = dict.fromkeys(map(clean_name, options.concept_columns), Choice("flag")) | choices
    parts = [unfold(part, problems) for part in annotations.metadata]
    known = list(dict.fromkeys(name for part in parts for name in part.columns))
    taken: dict[str, Field] = {}
    annotations = replace(annotations, metadata=tuple(parts))
    for role in _ROLES:
        own = annotations.roles.get(role, "")
        if role in annotations.images or own in choices:
            own = ""
        given = clean_name(getattr(options, f"{role}_column") or own)
        if given in known:
            annotations, taken[given] = _take_role(annotations, given, role, names, file)
    for setting, wanted in (
        *((Setting(f"{role}_column"), [getattr(options, f"{role}_column")]) for role in _ROLES),
        (Setting("field"), choices),
        (Setting("names"), names),
    ):
        for name in map(clean_name, filter(None, wanted)):
            if name not in (*known, *annotations.roles.values()):
                listed = suggest_names(name, known, "Its columns")
                remedy = (listed, " Set ", setting, " to one of them.")
                raise InputError(file, None, f"there is no column {name!r}", remedy)
    return add_concepts(annotations, choices, names, taken, problems)


def _take_role(
    annotations: Annotations,
    column: str,
    role: str,
    names: Mapping[str, Mapping[str, str]],
    file: str,
) -> tuple[Annotations, Field]:
    """Take the images' class, split or cluster; those without a class are set aside."""
    found, several = _of_images(annotations, column, names.get(column, {}), file)
    n = len(found.codes)
    missing = int((found.codes < 0).sum())
    told = Field(column, role, len(found.names), n - missing, missing - several)
    if role == "class":
        return with_class(annotations, found, "images without a class", several), told
    if several:
        reason = f"{several:,} images have several values in the column {column!r}"
        raise InputError(file, None, reason, f"Give each image one {role}.")
    coded = {role: categorical(found.codes, found.names)}
    return replace(annotations, images=annotations.images.assign(**coded)), told


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
    n, width = len(annotations.images), max(len(coded.names), 1)
    known = np.flatnonzero((coded.codes >= 0) & (part.image >= 0))
    image, code = np.divmod(pd.unique(part.image[known] * width + coded.codes[known]), width)
    of_image = np.full(n, -1, dtype=np.int64)
    of_image[image] = code
    several = np.bincount(image, minlength=n) > 1
    of_image[several] = -1
    return Coded(of_image, coded.names), int(several.sum())


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
            found = read_column(name, cells, choices.get(name), names.get(name, {}), problems)
            mention = _mention(part, found, n)
            mentions.append(mention)
            total += len(mention.image)
            problems.within("mentions", total)
            shown = np.zeros(n, dtype=bool)
            shown[mention.image] = True
            counts = len(mention.concept.names), int(shown.sum()), found.missing
            fields.append(Field(name, found.kind, *counts, found.why))
    annotations = add_mentions(annotations, mentions)
    notes = describe_fields(fields, problems.file)
    if annotations.images["class_name"].eq(ALL_IMAGES).all():
        notes += offer_class(fields, problems.file)
    if annotations.mentions.empty and n and annotations.roles:
        notes.append(f"{problems.file}: no column became a concept")
    notes = [*annotations.notes, *notes]
    return replace(annotations, metadata=(), fields=tuple(fields), notes=tuple(notes))


def _mention(part: Metadata, found: Found, n_images: int) -> MentionColumns:
    """Mentions of a column; of equal ones without numbers, as of several rows, one an image."""
    concept = recode_names(found.code, found.names)
    image = part.image[found.record]
    kept = np.flatnonzero((image >= 0) & (concept.codes >= 0))
    if not part.numbers and not found.numbers and len(part.image) > n_images:
        pairs = image[kept] * len(found.names) + concept.codes[kept]
        kept = kept[np.sort(np.unique(pairs, return_index=True)[1])]
    numbers = {name: values[found.record[kept]] for name, values in part.numbers.items()}
    numbers |= {name: values[kept] for name, values in found.numbers.items()}
    used = np.unique(concept.codes[kept])
    names = [concept.names[code] for code in used.tolist()]
    coded = Coded(np.searchsorted(used, concept.codes[kept]), names)
    return MentionColumns(image[kept], coded, ANNOTATION, numbers)
