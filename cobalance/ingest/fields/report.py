"""Report of the uses of columns, in words."""

from collections.abc import Sequence

import pandas as pd

from cobalance.base.records import Field
from cobalance.ingest.fields.choices import KINDS
from cobalance.ingest.fields.concepts import UNNAMED
from cobalance.ingest.tables.columns import USUAL_NAMES, normal_name, shorten_list

_MOST_NAMED = 12
_MOST_CLASSES = 20
_CLASS_WORDS = {*USUAL_NAMES["class"].split(), "category", "species", "kind", "type"}


def describe_fields(fields: Sequence[Field], file: str) -> list[str]:
    """Notes on a load: columns of concepts, codes without names, columns left out."""
    together = [f"{each.column} ({each.concepts:,})" for each in fields if each.kind == "cluster"]
    shown = [each for each in fields if each.kind in KINDS and each.concepts]
    made = [f"{each.column} ({each.concepts:,})" for each in shown]
    flags = [each.column for each in fields if each.why == UNNAMED and each.kind == "flag"]
    codes = [each.column for each in fields if each.why == UNNAMED and each.kind != "flag"]
    left = [f"{each.column} ({each.why})" for each in fields if each.kind == "ignore" and each.why]
    said = [
        (together, "images belong together, in clusters of a column: {}"),
        (made, "columns that are concepts, with how many: {}"),
        (flags, "1 shows the concept in {}; were these codes, name them: names {}:0=...,1=..."),
        (codes, "numbers are codes in {}; name them: names {}:0=...,1=..."),
        (left, "columns left out: {}"),
    ]
    return [
        f"{file}: {text.format(shorten_list(names, _MOST_NAMED), names[0])}"
        for names, text in said
        if names
    ]


def offer_class(fields: Sequence[Field], file: str) -> list[str]:
    """A note on the column that is likely the class, where images have none; or nothing."""
    known = [each for each in fields if each.kind in KINDS]
    few = [each for each in known if each.kind == "flag" or 1 < each.concepts <= _MOST_CLASSES]
    few.sort(key=lambda each: not _CLASS_WORDS & {*normal_name(each.column).split("_")})
    return [f"{file}: the class is perhaps {few[0].column!r}"] if few else []


def fields_table(fields: Sequence[Field]) -> pd.DataFrame:
    """A row a column: its use, its concepts, images that show one, values missing, why."""
    rows = [
        (each.column, KINDS.get(each.kind, f"the {each.kind}"), each.concepts, each.images,
         each.missing, each.why)
        for each in fields
    ]  # fmt: skip
    columns = ["column", "becomes", "concepts", "images", "missing", "why"]
    return pd.DataFrame(rows, columns=columns)
