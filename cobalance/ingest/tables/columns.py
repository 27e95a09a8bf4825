"""Map columns of a table to roles, by the options or by their usual names."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from cobalance.base import Setting, clean_name, shorten_list, suggest_names
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import without
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.tables.guesses import (
    USUAL_NAMES,
    guess_kind,
    has_fractions,
    id_by_values,
    normal_name,
    picture_of_rows,
    usual_column,
)
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.values import encode_values

_SIZES = ("width", "height")


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """Columns of a table by role (`of`), and those of one concept each (`indicators`).

    Roles without a column are missing. `guessed` are those found by their usual names, as text for
    people: ``"id = image_id"``.
    """

    of: dict[str, str]
    indicators: tuple[str, ...]
    guessed: tuple[str, ...]


def map_columns(table: Table, options: ReadOptions, roles: Iterable[str]) -> ColumnMap:
    """Find the columns of roles, by the options first, then by their usual names.

    With ``options.by_name`` off, the options alone count.

    Raises
    ------
    InputError
        An option names a column that is missing.
    """
    # Paths and joined files may name these roles; an option for a column of theirs is no error.
    may_be_elsewhere = options.join or options.path_pattern
    column_of: dict[str, str] = {}
    for role in USUAL_NAMES:
        name = getattr(options, f"{role}_column")
        if name is None:
            continue
        is_here = clean_name(name) in table.columns
        if is_here or not (may_be_elsewhere and role in ("class", "split", "cluster")):
            column_of[role] = _require_column(table, name, Setting(f"{role}_column"))
    indicators = tuple(
        _require_column(table, name, Setting("concept_columns")) for name in options.concept_columns
    )

    chosen = {*column_of.values(), *indicators}
    free = without(table.columns, chosen)
    guessed = []
    for role in roles if options.by_name else ():
        if role in column_of or (role == "concepts" and indicators):
            continue
        column = usual_column(role, free)
        if role == "id" and column is None:
            column = id_by_values(without(free, column_of.values()), table.columns)
        elif role == "id" and column is not None:
            column = picture_of_rows(column, table.columns) or column
        if role in _SIZES and column is not None and has_fractions(table.columns[column]):
            continue
        # A class is one name: a column of lists is of concepts, however it is called.
        if role == "class" and column is not None and _holds_lists(column, table.columns[column]):
            continue
        # An id may be the path of the picture, too; else a column has one role.
        if column is not None and (role == "uri" or column not in column_of.values()):
            column_of[role] = column
            guessed.append(f"{role} = {column}")

    if not indicators and options.by_name:
        indicators = tuple(without(table.concept_columns, column_of.values()))
    return ColumnMap(column_of, indicators, tuple(guessed))


def _holds_lists(name: str, column: pa.Array) -> bool:
    """Whether a column's cells are lists of names."""
    is_text = column.type == TEXT
    is_nested = pa.types.is_nested(column.type)
    return is_nested or (is_text and guess_kind(name, encode_values(column))[0] == "list")


def text_column(table: Table, name: str, setting: Setting) -> pa.Array:
    """A column as text; other types are an error.

    Raises
    ------
    InputError
        It holds floats or lists.
    """
    column = table.columns[name]
    if column.type != TEXT:
        kind = "decimal numbers" if pa.types.is_floating(column.type) else "lists"
        raise table.problems.fatal(
            f"the column {name!r} holds {kind}, where text is needed",
            ("Save it as text or whole numbers, or choose another ", setting, "."),
        )
    return column


def _require_column(table: Table, given: str, setting: Setting) -> str:
    """The column that a name given by a person means."""
    name = clean_name(given)
    if name in table.columns:
        return name

    refuse_unusable(table, name, setting)
    raise table.problems.fatal(
        f"there is no column {name!r}",
        (suggest_names(name, table.columns, "Its columns"), " Set ", setting, " to one of them."),
    )


def refuse_unusable(table: Table, name: str, setting: Setting) -> None:
    """Raise InputError for a column whose type no reader can use."""
    if name in table.unusable:
        raise table.problems.fatal(
            f"the column {name!r} holds {table.unusable[name]}, which cannot be used",
            ("Save it as text, or choose another ", setting, "."),
        )


def no_column(table: Table, role: str, what: str) -> str:
    """Say that no column looks like a role, which there are, and which may be meant."""
    usual = {*USUAL_NAMES[role]}
    near = next((name for name in table.columns if usual & {*normal_name(name).split("_")}), None)
    meant = "" if near is None else f"; perhaps {near!r}"
    return f"no column looks like {what} (columns: {shorten_list(table.columns)}{meant})"
