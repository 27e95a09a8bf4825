"""Methods that balance groups or classes: by repeating, leaving out, or weighting images."""

from dataclasses import dataclass

import numpy as np

from cobalance.base import Options
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import (
    Unit,
    balance_units,
    rows_by_unit,
    units_of,
)


class BalanceOptions(Options):
    """Options of methods that balance groups or classes.

    Parameters
    ----------
    by : {"group", "class"}
        Groups of class and shortcuts, or classes alone, which need no group labels.
    """

    by: Unit = "group"


@dataclass(frozen=True)
class OverSampling(Method):
    """Every image once, and random ones of smaller groups again."""

    options: BalanceOptions

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """Rows to train on: all, then the repeated ones."""
        units = rows_by_unit(units_of(training, self.options.by, "Over-sampling"))
        largest = max(map(len, units))
        return np.concatenate([[*rows, *rng.choice(rows, largest - len(rows))] for rows in units])


@dataclass(frozen=True)
class SubSampling(Method):
    """Random images of each group, equally many."""

    options: BalanceOptions

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """Rows to train on."""
        return balance_units(units_of(training, self.options.by, "Sub-sampling"), rng)


@dataclass(frozen=True)
class Upweight(Method):
    """Weights by group."""

    options: BalanceOptions

    def weights(self, training: Examples) -> Floats:
        """Sample weights of mean 1, shape (n_images,)."""
        return inverse_sizes(units_of(training, self.options.by, "The method upweight"))


def inverse_sizes(units: IntArray) -> Floats:
    """N / (G n_g) for each image, G the groups that have images; exactly 1 for equal groups.

    Examples
    --------
    >>> inverse_sizes(np.array([0, 0, 0, 1])).round(4).tolist()
    [0.6667, 0.6667, 0.6667, 2.0]
    """
    _, group, sizes = np.unique(units, return_inverse=True, return_counts=True)
    return len(units) / (len(sizes) * sizes)[group]


PLUGINS = (
    MethodPlugin(
        "over-sampling",
        "Repeats images of smaller groups until all are as large as the largest.",
        options=BalanceOptions,
        open=OverSampling,
        needs_groups=True,
        reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.1.',
    ),
    MethodPlugin(
        "sub-sampling",
        "Leaves out images of larger groups until all are as small as the smallest.",
        options=BalanceOptions,
        open=SubSampling,
        needs_groups=True,
        reference='Idrissi et al., "Simple data balancing achieves competitive worst-group-'
        'accuracy" (2022), section 2.',
    ),
    MethodPlugin(
        "upweight",
        "Weights each image by n / (G n_g), so that all groups count equally.",
        options=BalanceOptions,
        open=Upweight,
        needs_groups=True,
        reference='Sagawa et al., "Distributionally Robust Neural Networks for Group Shifts" '
        "(2020), section 3.3.",
    ),
)
