"""Groups and domains of training images, for methods that tell them apart."""

from typing import Literal

import numpy as np

from cobalance.base import DataError, OptionError
from cobalance.evaluation.training.examples import Examples, Floats, IntArray

Unit = Literal["group", "class"]


def units_of(training: Examples, by: Unit, what: str) -> IntArray:
    """The group or class of each image; errors begin with the method's name.

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


def balance_units(units: IntArray, rng: np.random.Generator) -> IntArray:
    """Random rows, of each group or class as many as the smallest has."""
    rows_by_group = rows_by_unit(units)
    fewest = min(map(len, rows_by_group))
    return np.concatenate([rng.choice(rows, fewest, replace=False) for rows in rows_by_group])


def count_domains(training: Examples, what: str) -> Floats:
    """Images of each domain, shape (n_domains,); errors begin with the method's name.

    Raises
    ------
    DataError
        Domains are unknown, or all images are of one.
    """
    counts = np.bincount(training.require_domains(what)).astype(np.float64)
    if np.count_nonzero(counts) < 2:
        raise DataError(
            f"{what} needs training images of two domains or more, and these are of one. Choose "
            "shortcuts whose values differ, or another method."
        )
    return counts
