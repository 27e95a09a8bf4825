"""Tables of objects by groups, before and after, as counts or shares."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import DataError, FloatArray, InputError
from cobalance.evaluation.metrics.bias.labels import Labels, check_rows, read_indicators
from cobalance.evaluation.metrics.tables import ROUNDING, number_column, text_column
from cobalance.evaluation.table_files import refuse_rows

Table = pd.DataFrame | pd.Series | npt.ArrayLike | Mapping[str, Sequence[float]]
"""Objects by groups: a frame, an array, lists, or columns by name."""
OTHERS = "other groups"
"""The second group, where a table has the shares of one group alone."""

_NAMED = pd.DataFrame | pd.Series


def read_table(table: Table, name: str) -> pd.DataFrame:
    """Return a table of objects by groups as a frame of float64, with names as text.

    Parameters
    ----------
    table : table
        Counts, or shares of each object's groups; a column of text names the objects. A series,
        or a plain list, has the shares of the first of two groups.
    name : str
        What the table is, for messages.

    Raises
    ------
    DataError
        A value is negative, NaN or infinite, or there are fewer than two groups.

    Examples
    --------
    >>> read_table([[30, 10]], "before")
          0     1
    0  30.0  10.0
    >>> read_table(pd.Series({"cooking": 0.25}), "before").loc["cooking"].tolist()
    [0.25, 0.75]
    """
    if isinstance(table, Mapping | pd.DataFrame):
        frame = pd.DataFrame(table)
    elif np.ndim(table) == 1:
        frame = _one_share(table, name)
    else:
        frame = pd.DataFrame(np.asarray(table))

    # A column of text beside numbers names the objects.
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    if len(texts) == 1 and len(frame.columns) > 1:
        frame = frame.set_index(texts[0])
    frame = frame.set_axis(list(map(str, frame.index)), axis=0)
    frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    if len(frame.columns) < 2:
        raise DataError(f"{name} has {len(frame.columns)} groups; give a column for each of two.")
    for side, names in (("row", frame.index), ("column", frame.columns)):
        if not names.is_unique:
            repeated = names[names.duplicated()][0]
            raise DataError(f"{name} has the {side} {repeated!r} twice. Name each once.")

    try:
        frame = frame.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} has a value that is no number: {error}.") from error
    values = frame.to_numpy()
    is_wrong = ~np.isfinite(values) | (values < 0)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise DataError(
            f"{name}, row {frame.index[row]!r}, column {frame.columns[column]!r} is "
            f"{values[row, column]}; give counts or shares from 0."
        )
    return frame


def _one_share(values: pd.Series | npt.ArrayLike, name: str) -> pd.DataFrame:
    shares = pd.Series(values, dtype=np.float64)
    if not shares.between(0, 1).all():
        raise DataError(
            f"{name} has one column, and {float(shares.max())} in it. Give the first group's share "
            "of each object, from 0 to 1, or a column for each group."
        )
    return pd.DataFrame({"0": shares, "1": 1 - shares})


def group_shares(table: pd.DataFrame | FloatArray) -> FloatArray:
    """Return the share of each group in each object, shape (n_objects, n_groups).

    A row that adds up to 1, within the rounding of published tables, is taken as it is. Rows of
    zeros are NaN.

    Examples
    --------
    >>> group_shares(read_table([[30, 10], [0.67, 0.34], [0, 0]], "before"))
    array([[0.75, 0.25],
           [0.67, 0.34],
           [ nan,  nan]])
    """
    values = np.asarray(table)
    sums = values.sum(axis=1, keepdims=True)
    # Published shares are rounded: dividing them by their sum would change them.
    sums[np.abs(sums - 1) <= ROUNDING] = 1
    with np.errstate(invalid="ignore"):
        return np.asarray(values / sums, dtype=np.float64)


def aligned_tables(before: Table, after: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read two tables and return them with rows and columns in the order of the first.

    Names count where both tables have them, and order where one is without.

    Raises
    ------
    DataError
        One table has objects or groups that the other lacks, or another shape.
    """
    first, second = read_table(before, "before"), read_table(after, "after")

    # Where only one table names its objects or groups, the other has them in the same order.
    name_objects = isinstance(before, _NAMED) and isinstance(after, _NAMED)
    if not name_objects and len(first) == len(second):
        second.index = first.index = second.index if _names_groups(after) else first.index
    if first.shape[1] == second.shape[1]:
        if not _names_groups(after):
            second.columns = first.columns
        elif not _names_groups(before):
            first.columns = second.columns

    for kind, names, other_names in (
        ("objects", first.index, second.index),
        ("groups", first.columns, second.columns),
    ):
        missing = [*names.difference(other_names), *other_names.difference(names)]
        if missing:
            raise DataError(
                f"before and after differ in their {kind}: {missing[0]!r} is in one alone, and "
                f"{len(missing)} altogether. Give tables of the same objects and groups."
            )
    return first, second.reindex(index=first.index, columns=first.columns)


def _names_groups(table: Table) -> bool:
    return isinstance(table, pd.DataFrame | Mapping)


def count_table(labels: Labels, groups: Labels) -> pd.DataFrame:
    """Return how many images show each object with each group: objects by groups.

    Parameters
    ----------
    labels, groups : labels
        Of the same images, in the same order: indicators, or a name an image.

    Raises
    ------
    DataError
        The numbers of images differ, or a value is neither 0 nor 1.

    Examples
    --------
    >>> count_table(["pan", "pan", "ball"], ["woman", "man", "man"])
          man  woman
    ball    1      0
    pan     1      1
    """
    objects = read_indicators(labels=labels)["labels"]
    members = read_indicators(groups=groups)["groups"]
    check_rows(labels=objects, groups=members)
    return objects.T @ members


def before_and_after(table: pd.DataFrame) -> tuple[Table, Table]:
    """Tables of objects by groups from a table of both.

    Parameters
    ----------
    table : frame
        ``object``, ``group``, ``before`` and ``after``, with a row for each pair (of shares, one
        row an object does, such as that of the group it leans to); or ``object`` and
        columns ``before_<group>`` and ``after_<group>``; or ``object``, ``before`` and ``after``,
        the shares of one of two groups.

    Raises
    ------
    InputError
        It has other columns, an object or pair twice, or a cell that is no count or share.
    """
    names = list(map(str, table))
    if "object" in names and {"before", "after"} <= {*names}:
        keys = ["object", "group"] if "group" in names else ["object"]
        _refuse_twice(table, keys)
        sides = _numbers(table, keys, {"before": "before", "after": "after"})
        return _by_group(sides) if "group" in names else (sides["before"], sides["after"])

    columns = [_groups_by_column(names, prefix) for prefix in ("before_", "after_")]
    if "object" not in names or not all(columns):
        reason = f"has the columns {', '.join(names)}"
        remedy = (
            "Give object, group, before and after, or object, before_<group> and after_<group>."
        )
        raise InputError("table", None, reason, remedy)

    _refuse_twice(table, ["object"])
    before, after = (_numbers(table, ["object"], new_names) for new_names in columns)
    return before, after


def _groups_by_column(names: list[str], prefix: str) -> dict[str, str]:
    return {name: name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def _by_group(sides: pd.DataFrame) -> tuple[Table, Table]:
    """Objects by groups, before and after: a pair without a row has no images.

    Of shares, it has what the object's other groups leave, as where tables give that of one group.
    """
    shares = bool((sides <= 1).all(axis=None) and (sides % 1 > 0).any(axis=None))
    before, after = (_complete_table(sides[name].unstack(), shares) for name in sides)  # noqa: PD010
    return before, after


def _complete_table(table: pd.DataFrame, shares: bool) -> pd.DataFrame:
    n_missing = table.isna().sum(axis=1)
    if not shares:
        if len(table) > 1 and (n_missing == len(table.columns) - 1).all():
            reason = f"has counts of one group of each object, such as {table.index[0]!r}"
            remedy = "Give those of all groups, or shares from 0 to 1."
            raise InputError("table", None, reason, remedy)
        return table.fillna(0)
    if len(table.columns) == 1:
        return table.assign(**{OTHERS: 1 - table.iloc[:, 0]})

    # One missing share of an object is the rest to 1; of several, only a rest of 0 can be shared.
    rest = (1 - table.sum(axis=1)).clip(lower=0)
    is_unclear = (n_missing > 1) & (rest > ROUNDING)
    if is_unclear.any():
        reason = f"has shares of {is_unclear.idxmax()!r} that add up to less than 1"
        raise InputError("table", None, reason, "Give a row for each of its groups.")
    return table.T.fillna(rest).T


def _numbers(table: pd.DataFrame, keys: list[str], columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of numbers under new names, indexed by object, or by object and group."""
    names = pd.DataFrame({key: text_column(table, key) for key in keys})
    numbers = {new: number_column(table, name) for name, new in columns.items()}
    return names.assign(**numbers).set_index(keys)


def _refuse_twice(table: pd.DataFrame, keys: list[str]) -> None:
    verb, remedy = "is", "Keep one row for each object, or name its groups in a column group."
    if len(keys) > 1:
        verb, remedy = "are", "Keep one row for each pair."
    refuse_rows(
        table.duplicated(keys),
        "table",
        lambda row: (
            " and ".join(map(repr, table[keys].iloc[row].tolist())) + f" {verb} there twice"
        ),
        remedy,
    )
