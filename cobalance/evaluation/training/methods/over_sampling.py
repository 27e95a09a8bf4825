"""Over-sampling: images of smaller groups are repeated until all groups are equally large."""

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
    "over-sampling",
    "Repeats images of smaller groups until all are as large as the largest.",
    options=BalanceOptions,
    needs_groups=True,
    reference='Wang et al., "Towards Fairness in Visual Recognition" (2020), section 4.1.',
)


@dataclass(frozen=True)
class OverSampling(Method):
    """Every image once, and random ones of smaller groups again."""

    by: Unit = "group"

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """Rows to train on: all, then the repeated ones."""
        units = rows_by_unit(units_of(training, self.by, "Over-sampling"))
        most = max(map(len, units))
        return np.concatenate([[*rows, *rng.choice(rows, most - len(rows))] for rows in units])


def open_method(options: BalanceOptions) -> Method:
    """Open the method."""
    return OverSampling(options.model_dump(), by=options.by)
