"""GroupDRO: the loss of the worst groups, by weights of groups that follow their losses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import Field

from cobalance.base import Options
from cobalance.evaluation.training.examples import Examples, Floats, IntArray, split_rows
from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import rows_by_unit


class GroupDroOptions(Options):
    """Options of the method group-dro.

    Parameters
    ----------
    step : float
        The paper's η: how fast the weights of groups follow their losses.
    """

    step: float = Field(default=0.01, gt=0)


PLUGIN = MethodPlugin(
    "group-dro",
    "Minimises the loss of the worst groups, over batches that have all groups alike.",
    options=GroupDroOptions,
    needs_groups=True,
    reference='Sagawa et al., "Distributionally Robust Neural Networks for Group Shifts" (2020), '
    "algorithm 1. A group without images in a batch counts as of loss 0, as in the authors' code.",
)


@dataclass(frozen=True)
class GroupDro(Method):
    """Group weights q, multiplied by exp(η · loss) and normalised with each batch."""

    options: GroupDroOptions

    def prepare(self, training: Examples) -> Method:
        """The method with equal weights of groups."""
        n_groups = int(training.require_groups("GroupDRO").max()) + 1
        return replace(self, state={"q": np.full(n_groups, 1 / n_groups)})

    def batches(
        self, training: Examples, size: int, rng: np.random.Generator
    ) -> Sequence[IntArray]:
        """Batches of random groups with a random image each, as many as ERM has."""
        units = rows_by_unit(training.require_groups("GroupDRO"))
        chance = np.empty(len(training))
        for rows in units:
            chance[rows] = 1 / (len(units) * len(rows))
        return split_rows(rng.choice(len(training), len(training), p=chance), size)

    def reweight(self, losses: Floats, groups: IntArray) -> Floats:
        """Weights of a batch: q of an image's group, shared by the group's images in the batch."""
        q = self.state["q"]
        counts = np.bincount(groups, minlength=len(q))
        sums = np.bincount(groups, weights=losses, minlength=len(q))
        # In place: the method's state is what a checkpoint keeps.
        q[:] = group_weights(q, sums / np.maximum(counts, 1), self.options.step)
        return q[groups] / counts[groups]


def group_weights(q: Floats, losses: Floats, step: float) -> Floats:
    """The next weights of groups.

    Examples
    --------
    >>> q = group_weights(np.array([0.5, 0.5]), np.array([2.0, 0.0]), 1.0)
    >>> q.round(4).tolist(), round(float(q @ [2.0, 0.0]), 4)
    ([0.8808, 0.1192], 1.7616)
    """
    raised = q * np.exp(step * (losses - losses.max()))
    return np.asarray(raised / raised.sum())


open_method = GroupDro
