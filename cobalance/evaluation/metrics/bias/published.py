"""Published tables: of objects by groups before and after, and of attackers' scores."""

from collections.abc import Mapping

import pandas as pd

from cobalance.evaluation.metrics.bias.tables import ROUNDING, Table
from cobalance.evaluation.metrics.metric import score_frame, stack
from cobalance.evaluation.metrics.tables import number_column, rows_of_table, text_column
from cobalance.graph.errors import InputError

OTHERS = "other groups"  # where a table has the shares of one group alone


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
    names = [str(name) for name in table]
    if "object" in names and {"before", "after"} <= {*names}:
        keys = ["object", "group"] if "group" in names else ["object"]
        _refuse_twice(table, keys)
        sides = _numbers(table, keys, {"before": "before", "after": "after"})
        if "group" not in names:
            return sides["before"], sides["after"]
        return _by_group(sides)
    wide = [
        {name: name.removeprefix(prefix) for name in names if name.startswith(prefix)}
        for prefix in ("before_", "after_")
    ]
    if "object" not in names or not all(wide):
        reason = f"has the columns {', '.join(names)}"
        remedy = (
            "Give object, group, before and after, or object, before_<group> and after_<group>."
        )
        raise InputError("table", None, reason, remedy)
    _refuse_twice(table, ["object"])
    before, after = (_numbers(table, ["object"], columns) for columns in wide)
    return before, after


def _by_group(sides: pd.DataFrame) -> tuple[Table, Table]:
    """Objects by groups, before and after: a pair without a row has no images.

    Of shares, it has what the object's other groups leave, as where tables give that of one group.
    """
    shares = bool((sides <= 1).all(axis=None) and (sides % 1 > 0).any(axis=None))
    before, after = (_completed(sides[name].unstack(), shares) for name in sides)  # noqa: PD010
    return before, after


def _completed(table: pd.DataFrame, shares: bool) -> pd.DataFrame:
    lacking = table.isna().sum(axis=1)
    if not shares:
        if len(table) > 1 and (lacking == len(table.columns) - 1).all():
            reason = f"has counts of one group of each object, such as {table.index[0]!r}"
            remedy = "Give those of all groups, or shares from 0 to 1."
            raise InputError("table", None, reason, remedy)
        return table.fillna(0)
    if len(table.columns) == 1:
        return table.assign(**{OTHERS: 1 - table.iloc[:, 0]})
    rest = (1 - table.sum(axis=1)).clip(lower=0)
    unclear = (lacking > 1) & (rest > ROUNDING)
    if unclear.any():
        reason = f"has shares of {unclear.idxmax()!r} that add up to less than 1"
        raise InputError("table", None, reason, "Give a row for each of its groups.")
    return table.T.fillna(rest).T


def _numbers(table: pd.DataFrame, keys: list[str], columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of numbers under new names, indexed by object, or by object and group."""
    names = pd.DataFrame({key: text_column(table, key) for key in keys})
    numbers = {new: number_column(table, name) for name, new in columns.items()}
    return names.assign(**numbers).set_index(keys)


def _refuse_twice(table: pd.DataFrame, keys: list[str]) -> None:
    twice = table.duplicated(keys)
    if twice.any():
        row = int(twice.to_numpy().argmax())
        what = " and ".join(repr(table[key].iloc[row]) for key in keys)
        verb = "are" if len(keys) > 1 else "is"
        remedy = "Keep one row for each"
        remedy += " pair." if len(keys) > 1 else " object, or name its groups in a column group."
        raise InputError("table", f"row {row + 1}", f"{what} {verb} there twice", remedy)


def attacked(metric: str) -> tuple[str, str]:
    """Columns of a table with attackers' scores in place of what they are computed from."""
    return f"{metric}_model", f"{metric}_data"


def difference_of_attackers(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Scores of `metric` from attackers' scores that are known, such as those of a paper.

    Raises
    ------
    InputError
        The table has none of the model or of the data, or a cell is no number.
    """
    model, data = attacked(metric)
    sides = {name: number_column(table, name) for name in (model, data)}
    sides[metric] = sides[model] - sides[data]
    return stack(
        score_frame(name, group, values[row], run=run)
        for row, (run, group) in enumerate(rows_of_table(table))
        for name, values in sides.items()
    )
