"""Numbers with a comma for the point, as spreadsheets write them in much of the world."""

import pyarrow as pa
import pyarrow.compute as pc

from cobalance.ingest.frames import TEXT
from cobalance.ingest.tables.guesses import CONCEPT_COLUMNS, normal_name
from cobalance.ingest.tables.values import MISSING

_NUMBER = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?$"
# No list of codes has a part like these.
_FRACTION = r"^[+-]?0,\d|,0|,\d+0$"
_GROUPS = r"\.\d{3}\."
_FIRST = 1_000  # cells, by which most columns are told apart


def with_decimal_points(columns: dict[str, pa.Array], separator: str) -> dict[str, pa.Array]:
    """The columns of a text file, with points for decimal commas.

    Between commas no cell has one unless it is quoted, as a list is; between tabs a list of codes
    looks like such numbers, unless one is a fraction as no list has it.

    Examples
    --------
    >>> column = pa.array(["2,5", "1.250", ""], TEXT)
    >>> with_decimal_points({"height": column}, ";")["height"].to_pylist()
    ['2.5', '1250', '']
    """
    if separator == ",":
        return columns

    numeric = list(filter(lambda name: _holds_numbers(name, columns[name]), columns))
    pattern = _FRACTION if separator == "\t" else ","
    has_commas = any(_any_matches(columns[name], pattern) for name in numeric)
    # Without commas, two points in a number divide its thousands; beside them, one does.
    pattern = r"[.,]" if has_commas else _GROUPS

    pointed_columns = columns.copy()
    for name in numeric:
        if _any_matches(columns[name], pattern):
            without_thousands = pc.replace_substring(columns[name], ".", "")
            pointed_columns[name] = pc.replace_substring(without_thousands, ",", ".")
    return pointed_columns


def _holds_numbers(name: str, column: pa.Array) -> bool:
    """Whether all cells that are not empty may be numbers with a decimal comma."""
    if column.type != TEXT or normal_name(name) in CONCEPT_COLUMNS:
        return False

    return _are_numbers(column[:_FIRST]) and _are_numbers(column)


def _are_numbers(column: pa.Array) -> bool:
    cells = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    is_missing = pc.is_in(cells, pa.array(sorted(MISSING), TEXT))
    return bool(pc.all(pc.or_(is_missing, pc.match_substring_regex(cells, _NUMBER))).as_py())


def _any_matches(column: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())
