"""Tables from files: reading them, names of their columns, and checks of their cells."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import STRING, InputError
from cobalance.ingest import read_head

ALIASES: Mapping[str, tuple[str, ...]] = {
    "image": ("image_id", "id"),
    "class_name": ("class", "label"),
    "predicted": ("prediction", "pred", "predicted_class"),
}
"""Other names of columns, by ours."""

_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__")
_POINT = r"\.0+$"
_WHOLE = r"-?\d+\.0+"  # a whole number that is a float, or was one where the text was written


def read_frame(path: str | Path, content: str = "predictions") -> pd.DataFrame:
    """Read CSV, TSV or Parquet; cells of CSV and TSV stay text, so that no name becomes a number.

    Raises
    ------
    InputError
        The file cannot be read or decoded.
    """
    import pyarrow as pa

    from cobalance.ingest import read_unlimited

    path = Path(path)
    head = read_head(path, content)
    try:
        if head.startswith(b"PAR1"):
            frame: pd.DataFrame = read_unlimited(path).to_pandas(ignore_metadata=True)
            return without_index(frame)

        header = head.lstrip().splitlines()[0]
        separator = max(",;\t", key=lambda sign: header.count(sign.encode()))
        frame = pd.read_csv(
            path, sep=separator, dtype=STRING, keep_default_na=False, encoding="utf-8-sig"
        )
        return without_index(frame)
    # pandas' parser errors and decoding errors are ValueErrors.
    except (pa.ArrowException, ValueError) as error:
        reason = f"cannot be read as a table ({' '.join(str(error).split()).rstrip('.')})"
        remedy = "Save it as CSV in UTF-8 with one line of column names, or as Parquet."
        raise InputError(str(path), None, reason, remedy) from error


def without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop the column of an unnamed pandas index, which would pass for figures or groups."""
    return frame.loc[:, [_INDEX.fullmatch(str(name)) is None for name in frame]]


def lower_names(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Rename columns such as Image or N that are known names, or aliases of one, but for capitals.

    Examples
    --------
    >>> list(lower_names(pd.DataFrame(columns=["Image_ID", "N", "P_Cat"]), ["image", "n"]))
    ['image_id', 'n', 'P_Cat']
    """
    known = {alias for name in names for alias in (name, *ALIASES.get(name, ()))}
    new_names = dict(zip(frame, frame.columns.astype(str).str.lower(), strict=True))

    # Where a table has both Image and image, the former is a column of its own.
    return frame.rename(
        columns={old: new for old, new in new_names.items() if new in known and new not in frame}
    )


def known_names(frame: pd.DataFrame) -> dict[str, str]:
    """Other names of columns that stand for one of ours which is not there."""
    names: dict[str, str] = {}
    for name, aliases in ALIASES.items():
        present = [alias for alias in aliases if alias in frame]
        if present and name not in frame:
            names[present[0]] = name
    return names


def refuse_double_columns(frame: pd.DataFrame, source: str) -> None:
    """Raise InputError where two columns have one name."""
    double = frame.columns[frame.columns.duplicated()]
    if len(double):
        reason = f"has two columns {double[0]!r}"
        raise InputError(source, None, reason, "Rename or remove one of them.")


def missing_column(column: str, frame: pd.DataFrame, source: str, what: str) -> InputError:
    """Error for a missing column, with a description of its content."""
    columns = ", ".join(map(str, frame.columns)) or "none"
    reason = f"has no column {column}; its columns: {columns}"
    return InputError(source, None, reason, f"Add {column}: {what}.")


def refuse_cells(wrong: Any, column: "pd.Series[Any]", source: str, reason: str) -> None:
    """Raise InputError with the first cell that is wrong, and how many are."""
    if wrong.any():
        row, n_wrong = int(np.flatnonzero(wrong)[0]), int(wrong.sum())
        value = column.iloc[[row]].tolist()[0]
        reason = f"{column.name} is {value!r}, which {reason}"
        if n_wrong > 1:
            reason += f" ({n_wrong:,} rows are so)"
        remedy = f"Correct the column {column.name}, or leave such rows out."
        raise InputError(source, f"row {row + 1}", reason, remedy)


def refuse_rows(wrong: Any, source: str, reason: Callable[[int], str], remedy: str) -> None:
    """Raise InputError for the first row that is wrong, with the reason of that row."""
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(source, f"row {row + 1}", reason(row), remedy)


def number_cells(
    frame: pd.DataFrame, name: str, source: str, least: float = -np.inf
) -> "pd.Series[float]":
    """A column of finite numbers, none below the least; InputError for others."""
    values = pd.to_numeric(frame[name], errors="coerce").astype(np.float64)
    refuse_cells(~np.isfinite(values), frame[name], source, "is not a finite number")
    refuse_cells(values < least, frame[name], source, f"is less than {least:g}")
    return values


def whole_cells(frame: pd.DataFrame, name: str, source: str) -> "pd.Series[int]":
    """A column of whole numbers; InputError for others."""
    values = number_cells(frame, name, source)
    refuse_cells(values != np.floor(values), frame[name], source, "is not a whole number")
    return values.astype(np.int64)


def names_text(names: "pd.Series[Any]") -> "pd.Series[str]":
    """Names as text; whole numbers that are floats, such as classes 0.0 and 1.0, without a point.

    Examples
    --------
    >>> names_text(pd.Series(["3.0", "12.0"])).tolist()
    ['3', '12']
    """
    text = names.astype(STRING)
    whole = text.str.fullmatch(_WHOLE).all()
    return text.str.replace(_POINT, "", regex=True) if whole else text


def image_ids(frame: pd.DataFrame, source: str) -> "pd.Series[str]":
    """The ids of a table's images as text; InputError where it has none."""
    if "image" not in frame:
        raise missing_column("image", frame, source, "the ids of the images")
    return names_text(frame["image"])


def text_cells(frame: pd.DataFrame, name: str, source: str) -> "pd.Series[str]":
    """A column of names as text, none of them empty."""
    column = frame[name]
    refuse_cells(column.isna(), column, source, "is empty")
    text = names_text(column)
    if name != "method":
        refuse_cells(text.str.strip() == "", frame[name], source, "is empty")
    return text
