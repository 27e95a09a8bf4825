"""Map columns of a table to roles, by the options or by their usual names."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from cobalance.base import Setting, clean_name, suggest_names
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import without
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.tables.loading import Table

USUAL_NAMES = {
    "id": "image_id imageid id img_id filename file_name img_filename fname image_name image img "
    "image_path img_path path filepath file_path image_file file",
    "class": "label class class_name y target",
    "concepts": "concepts objects tags attributes keywords concept object tag attribute keyword "
    "predictionstring",
    "scores": "scores",
    "caption": "caption captions text description",
    "split": "split partition subset",
    "cluster": "patient_id video video_id sequence scene_token photographer",
    "uri": "uri url image_url image_path img_path path filepath file_path file_name filename "
    "img_filename fname image_file file image",
    "width": "width width_px image_width",
    "height": "height height_px image_height",
}
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
     "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)  # fmt: skip
"""Texts that stand for a missing value, as `pandas.read_csv` has them."""
PRESENT = {"1": 1, "true": 1, "yes": 1, "0": 0, "-1": 0, "false": 0, "no": 0}


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
        # An id may be the path of the picture, too; else a column has one role.
        if column is not None and (role == "uri" or column not in column_of.values()):
            column_of[role] = column
            guessed.append(f"{role} = {column}")

    if not indicators and options.by_name:
        indicators = tuple(without(table.concept_columns, column_of.values()))
    return ColumnMap(column_of, indicators, tuple(guessed))


def usual_column(role: str, names: Iterable[str]) -> str | None:
    """Find the column with the most usual name for a role.

    Examples
    --------
    >>> usual_column("class", ["y", "Label"])
    'Label'
    """
    names_by_form = {normal_name(str(name)): name for name in reversed(list(names))}
    # Beside x, y is a coordinate.
    if role == "class" and "x" in names_by_form:
        names_by_form.pop("y", None)
    usual = filter(names_by_form.__contains__, USUAL_NAMES[role].split())
    return next(map(names_by_form.__getitem__, usual), None)


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
    if name in table.unusable:
        raise table.problems.fatal(
            f"the column {name!r} holds {table.unusable[name]}, which cannot be used",
            ("Save it as text, or choose another ", setting, "."),
        )
    raise table.problems.fatal(
        f"there is no column {name!r}",
        (suggest_names(name, table.columns, "Its columns"), " Set ", setting, " to one of them."),
    )


def no_column(table: Table, role: str, what: str) -> str:
    """Say that no column looks like a role, which there are, and which may be meant."""
    usual = {*USUAL_NAMES[role].split()}
    near = next((name for name in table.columns if usual & {*normal_name(name).split("_")}), None)
    meant = "" if near is None else f"; perhaps {near!r}"
    return f"no column looks like {what} (columns: {shorten_list(table.columns)}{meant})"


def shorten_list(names: Iterable[str], most: int = 30) -> str:
    """Join names for a message, cutting a long list short."""
    texts = list(names)
    if len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def normal_name(name: str) -> str:
    """A column's name as `USUAL_NAMES` has it."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")
