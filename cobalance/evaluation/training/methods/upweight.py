"""Upweighting: each image counts by the inverse of its group's size."""

from dataclasses import dataclass

import numpy as np

from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import BalanceOptions, Unit, units_of

PLUGIN = MethodPlugin(
    "upweight",
    "Weights each image by n / (G n_g), so that all groups count equally.",
    options=BalanceOptions,
    needs_groups=True,
    reference='Sagawa et al., "Distributionally Robust Neural Networks for Group Shifts" (2020), '
    "section 3.3.",
)


@dataclass(frozen=True)
class Upweight(Method):
    """Weights by group."""

    by: Unit = "group"

    def weights(self, training: Examples) -> Floats:
        """Sample weights of mean 1, shape (n_images,)."""
        return inverse_sizes(units_of(training, self.by, "The method upweight"))


def inverse_sizes(units: IntArray) -> Floats:
    """N / (G n_g) for each image, G the groups that have images; exactly 1 for equal groups.

    Examples
    --------
    >>> inverse_sizes(np.array([0, 0, 0, 1])).round(4).tolist()
    [0.6667, 0.6667, 0.6667, 2.0]
    """
    _, group, sizes = np.unique(units, return_inverse=True, return_counts=True)
    weights: Floats = len(units) / (len(sizes) * sizes)[group]
    return weights


def open_method(options: BalanceOptions) -> Method:
    """Open the method."""
    return Upweight(options.model_dump(), by=options.by)
