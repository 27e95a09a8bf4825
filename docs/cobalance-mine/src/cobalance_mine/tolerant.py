"""The planner that leaves small gaps alone."""

import numpy as np
from pydantic import Field

from cobalance.base.arrays import IntArray
from cobalance.base.options import Options
from cobalance.base.plugins import Plugin
from cobalance.counting.cliques import Cliques
from cobalance.generation.planning.plan import Planner, PlanOptions


class TolerantOptions(Options):
    """Options of the planner tolerant.

    Parameters
    ----------
    tolerance : float
        The share of the largest count that a class may lack.
    """

    tolerance: float = Field(default=0.1, ge=0, le=1)


PLUGIN = Plugin(
    "tolerant", "Closes gaps down to a share of the largest count.", options=TolerantOptions
)


def open_planner(options: TolerantOptions) -> Planner:
    """Open the planner."""

    def plan_images(cliques: Cliques, limits: PlanOptions) -> IntArray:
        smallest, largest = limits.resolve(cliques)
        sizes, counts = cliques.sizes(), cliques.counts
        most = counts.max(axis=1, keepdims=True)
        wanted = np.ceil(most * (1 - options.tolerance)).astype(np.int64)
        missing = np.clip(wanted - counts, 0, None)
        missing[(sizes < smallest) | (sizes > largest)] = 0
        return missing

    return plan_images
