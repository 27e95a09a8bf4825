"""Groups of predicted images: a class and the state of every shortcut."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import STRING, BoolArray, FloatArray, InputError, IntArray, OptionError
from cobalance.evaluation.predictions import class_columns, known_rows, require_classes
from cobalance.evaluation.shortcuts import COMMON, NONE, STATES, UNCOMMON, is_shortcut
from cobalance.evaluation.table_files import image_ids, refuse_rows

By = Literal["group", "class", "shortcuts"]
MOST_GROUPS = 4096


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of predicted images.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a group, empty ones included: ``class_name`` and the state of each shortcut.
    codes : int64 array, shape (n_rows,)
        The group of each row of the predictions.
    """

    table: pd.DataFrame
    codes: IntArray

    @property
    def names(self) -> list[str]:
        """A name for each group: its class and states, such as ``urban, object uncommon``."""
        states = [(f"{name} " + self.table[name]).tolist() for name in self.table.columns[1:]]
        return list(map(", ".join, zip(self.table["class_name"], *states, strict=True)))

    @property
    def shortcuts(self) -> list[str]:
        """Columns of shortcuts, without other attributes."""
        return [name for name in self.table.columns[1:] if set(self.table[name]) <= set(STATES)]

    @property
    def known(self) -> BoolArray:
        """Which groups are of images whose attributes are all known; a shortcut may be none."""
        attributes = self.table.drop(columns=["class_name", *self.shortcuts])
        return np.asarray((attributes != NONE).all(axis=1), dtype=bool)

    def need_shortcuts(self, metric: str) -> list[str]:
        """The shortcuts; OptionError without any."""
        if not self.shortcuts:
            raise OptionError(
                f"{metric} needs the state of at least one shortcut of each image. Give groups "
                "with a column of common, uncommon and none."
            )
        return self.shortcuts

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of a value of each row, by group."""
        return np.bincount(self.codes, values, len(self.table)).astype(np.float64)

    def in_state(self, *uncommon: str) -> BoolArray:
        """Which groups have these shortcuts uncommon and all others common."""
        expected = [UNCOMMON if name in uncommon else COMMON for name in self.shortcuts]
        states = self.table[self.shortcuts].to_numpy(dtype=object)
        return np.asarray((states == expected).all(axis=1))


def check_groups(groups: pd.DataFrame, source: str = "groups") -> pd.DataFrame:
    """Validated groups: ``image`` and a column of text for each shortcut or attribute.

    Other columns of known meaning, such as ``class_name``, are left out; an empty cell is ``none``.

    Raises
    ------
    InputError
        There is no column ``image`` or no other one, or an image has two rows.
    """
    images = image_ids(groups, source)
    names = [name for name in groups if is_shortcut(str(name))]
    if not names:
        remedy = "Add a column for each shortcut, with common, uncommon or none in it."
        raise InputError(source, None, "has no column of a shortcut", remedy)

    refuse_rows(
        images.duplicated(),
        source,
        lambda row: f"the image {images.iloc[row]!r} has a second row",
        "Keep one row for each image.",
    )
    return as_text(groups[names]).assign(image=images)[["image", *names]].reset_index(drop=True)


def align_groups(
    groups: pd.DataFrame, images: "pd.Series[Any]", source: str = "predictions"
) -> pd.DataFrame:
    """Validated groups of some images, in their order: a column for each shortcut or attribute.

    Raises
    ------
    InputError
        An image has no group, or as `check_groups`.
    """
    checked = check_groups(groups)
    rows = known_rows(images, checked["image"], source)
    return checked.drop(columns="image").iloc[rows].reset_index(drop=True)


def as_text(columns: pd.DataFrame) -> pd.DataFrame:
    """Columns as text, with ``none`` for empty cells."""
    cells = columns.astype(object)
    return cells.where(cells.notna() & (cells != ""), NONE).astype(STRING)


def group_rows(
    predictions: pd.DataFrame, groups: pd.DataFrame | None = None, by: By = "group"
) -> Grouping:
    """The group of each row of predictions.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `cobalance.evaluation.predictions.check_predictions`.
    groups : pandas.DataFrame or None
        Of all test images, as `check_groups` takes them. Without them, columns of the predictions
        that hold nothing but ``common``, ``uncommon`` and ``none``, and in a table of counts all
        others that are no measurements; without these, the classes alone.
    by : str
        ``"class"`` for the classes alone, ``"shortcuts"`` to leave out attributes that are none.

    Returns
    -------
    Grouping
        Every combination of the classes and of the states of each shortcut, whether an image has it
        or not: ``common`` and ``uncommon``, and ``none`` where it occurs; for other attributes the
        values that occur, ``none`` of which is no group (see `Grouping.known`). Classes are those
        of the images, and those with probabilities.

    Raises
    ------
    InputError
        An image has no group, or the groups cannot be used.
    OptionError
        There would be more than 4,096 groups.
    """
    require_classes(predictions, "the accuracy of groups")
    states = _states(predictions, groups, by)

    classes = sorted({*predictions["class_name"], *class_columns(predictions)})
    levels = {"class_name": classes} | {name: _levels(states[name]) for name in states}
    n_groups = math.prod(map(len, levels.values()))
    if n_groups > MOST_GROUPS:
        raise OptionError(
            f"{len(states.columns)} shortcuts and {len(classes)} classes give {n_groups:,} groups, "
            f"more than {MOST_GROUPS:,}. Choose fewer columns of the groups, or join shortcuts."
        )

    # Groups are numbered in the order of `product`: the levels of the last column change fastest.
    table = pd.DataFrame(list(product(*levels.values())), columns=list(levels), dtype=STRING)
    labels = states.assign(class_name=predictions["class_name"].to_numpy())
    codes = np.zeros(len(predictions), dtype=np.int64)
    for name, values in levels.items():
        codes = codes * len(values) + pd.Index(values).get_indexer(pd.Index(labels[name]))
    return Grouping(table, codes)


def _states(predictions: pd.DataFrame, groups: pd.DataFrame | None, by: By) -> pd.DataFrame:
    """Columns of shortcuts or attributes: of the groups, or of the predictions themselves."""
    if by == "class":
        return predictions[[]]

    if groups is None:
        is_counted = bool((predictions["n"] != 1).any())
        names = [name for name in predictions if _is_inline(predictions, name, is_counted)]
        states = as_text(predictions[names])
    else:
        states = align_groups(groups, predictions["image"])
    if by == "shortcuts":
        states = states[[name for name in states if _has_states(states, name)]]
    return states


def _has_states(frame: pd.DataFrame, name: Any) -> bool:
    return is_shortcut(name) and bool(frame[name].isin(STATES).all())


def _is_inline(predictions: pd.DataFrame, name: Any, counted: bool) -> bool:
    """Whether a column of predictions holds groups rather than telling runs or counts apart."""
    if _has_states(predictions, name) or not (counted and is_shortcut(name)):
        return _has_states(predictions, name)
    numbers = pd.to_numeric(predictions[name], errors="coerce")
    return not (numbers % 1 > 0).any()


def _levels(column: "pd.Series[str]") -> list[str]:
    values = set(column)
    if not values <= set(STATES):
        return sorted(values)
    return [COMMON, UNCOMMON, NONE] if NONE in values else [COMMON, UNCOMMON]
