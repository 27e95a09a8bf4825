"""Sub-sampling: as many images of each group as the smallest one has."""

from dataclasses import dataclass

import numpy as np

from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import (
    BalanceOptions,
    Unit,
    rows_by_unit,
    units_of,
)

PLUGIN = MethodPlugin(
    "sub-sampling",
    "Leaves out images of larger groups until all are as small as the smallest.",
    options=BalanceOptions,
    needs_groups=True,
    reference='Idrissi et al., "Simple data balancing achieves competitive worst-group-accuracy" '
    "(2022), section 2.",
)


@dataclass(frozen=True)
class SubSampling(Method):
    """Random images of each group, equally many."""

    by: Unit = "group"

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """Rows to train on."""
        units = rows_by_unit(units_of(training, self.by, "Sub-sampling"))
        fewest = min(map(len, units))
        return np.concatenate([rng.choice(rows, fewest, replace=False) for rows in units])


def open_method(options: BalanceOptions) -> Method:
    """Open the method."""
    return SubSampling(options.model_dump(), by=options.by)
