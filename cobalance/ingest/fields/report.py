"""Report of the uses of columns, in words."""

from collections.abc import Sequence

import pandas as pd

from cobalance.base import Field, shorten_list
from cobalance.ingest.fields.choices import KINDS
from cobalance.ingest.fields.concepts import UNNAMED
from cobalance.ingest.tables.guesses import USUAL_NAMES, normal_name

_MOST_NAMED = 12
_MOST_CLASSES = 20
_CLASS_WORDS = {*USUAL_NAMES["class"], "category", "species", "kind", "type"}


def describe_fields(fields: Sequence[Field], file: str) -> list[str]:
    """Notes on a load: columns of concepts, codes without names, columns left out."""
    clusters, concepts, flags, codes, ignored = columns_of = [list[str]() for _ in range(5)]
    for field in fields:
        counted = f"{field.column} ({field.concepts:,})"
        if field.kind == "cluster":
            clusters.append(counted)
        elif field.kind in KINDS and field.concepts:
            concepts.append(counted)
        if field.why == UNNAMED and field.kind == "flag":
            flags.append(field.column)
        elif field.why == UNNAMED:
            codes.append(field.column)
        if field.kind == "ignore" and field.why:
            ignored.append(f"{field.column} ({field.why})")

    words = (
        "images belong together, in clusters of a column: {}",
        "columns that are concepts, with how many: {}",
        "1 shows the concept in {}; were these codes, name them: names {}:0=...,1=...",
        "numbers are codes in {}; name them: names {}:0=...,1=...",
        "columns left out: {}",
    )
    return [
        f"{file}: {text.format(shorten_list(columns, _MOST_NAMED), columns[0])}"
        for text, columns in zip(words, columns_of, strict=True)
        if columns
    ]


def offer_class(fields: Sequence[Field], file: str) -> list[str]:
    """A note on the column that is likely the class, where images have none; or nothing."""
    candidates = [
        field
        for field in fields
        if field.kind == "flag" or (field.kind in KINDS and 1 < field.concepts <= _MOST_CLASSES)
    ]

    if not candidates:
        return []
    # Of equally likely ones `max` takes the first in the file.

    likely = max(
        candidates,
        key=lambda field: not _CLASS_WORDS.isdisjoint(normal_name(field.column).split("_")),
    )
    return [f"{file}: the class is perhaps {likely.column!r}"]


def fields_table(fields: Sequence[Field]) -> pd.DataFrame:
    """A row a column: its use, its concepts, images that show one, values missing, why."""
    rows = [
        (field.column, KINDS.get(field.kind, f"the {field.kind}"), field.concepts, field.images,
         field.missing, field.why)
        for field in fields
    ]  # fmt: skip
    columns = ["column", "becomes", "concepts", "images", "missing", "why"]
    return pd.DataFrame(rows, columns=columns)
