"""Images by group or class, for methods that balance them."""

from typing import Literal

import numpy as np

from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.graph.errors import OptionError
from cobalance.graph.options import Options

Unit = Literal["group", "class"]


class BalanceOptions(Options):
    """What a method balances.

    Parameters
    ----------
    by : {"group", "class"}
        Groups of class and shortcuts, or classes alone, which need no group labels.
    """

    by: Unit = "group"


def units_of(training: Examples, by: Unit, what: str) -> IntArray:
    """The group or class of each image; `what` needs it and begins an error's sentence.

    Raises
    ------
    OptionError
        Groups are unknown, or classes are wanted of images with several labels.
    """
    if by == "group":
        return training.require_groups(what)
    if training.several_labels:
        raise OptionError(
            f"{what} goes by class, and these images have several labels. Go by group."
        )
    return training.labels


def rows_by_unit(units: IntArray) -> list[IntArray]:
    """Rows of each group or class that has images, in the order of their codes.

    Examples
    --------
    >>> [rows.tolist() for rows in rows_by_unit(np.array([2, 0, 2]))]
    [[1], [0, 2]]
    """
    return [np.flatnonzero(units == unit) for unit in np.unique(units)]
