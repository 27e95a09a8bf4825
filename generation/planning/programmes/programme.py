"""Linear and integer programmes of plans: which images close which gaps, solved by HiGHS."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from generation.planning.programmes.tolerance import Caps, Tolerance
from graph.arrays import FloatArray, IntArray
from graph.counting.cliques import Cliques
from graph.counting.subsets import SubsetIndex

OPTIMAL, INFEASIBLE = 0, 2  # of scipy.optimize.milp


@dataclass(frozen=True)
class Answer:
    """A solver's answer: `images` (n_cliques, n_classes) or None, and the least they can be."""

    images: FloatArray | None
    bound: float
    status: int


class Programme:
    """Images of every class for every clique such that gaps stay within a tolerance.

    With x[q, c] images of class c that contain exactly clique q, clique t has n[t, c] + the sum of
    x[q, c] over all q that contain t. Times `scale`[c], these lie between (1 - share) M - slack and
    M, with M[t] free: the largest of them. This is linear for any number of classes.

    Parameters
    ----------
    cliques : Cliques
        The cliques to balance, which are also those that may be asked for.
    tolerance : Tolerance
        Of each of them.
    caps : Caps
        On the images.
    scale : float array, shape (n_classes,)
        1 for counts; for rates, the mean size of a class over that of each.
    """

    def __init__(
        self, cliques: Cliques, tolerance: Tolerance, caps: Caps, scale: FloatArray
    ) -> None:
        self.cliques, self.tolerance, self.caps, self.scale = cliques, tolerance, caps, scale
        pairs = list(SubsetIndex(cliques.members).subsets(cliques.members))
        wholes, parts = (np.concatenate(each) for each in zip(*pairs, strict=True))
        size = len(cliques)
        self.covers = sparse.csr_array((np.ones(len(parts)), (parts, wholes)), shape=(size, size))

    def after(self, images: IntArray) -> IntArray:
        """The counts with images: exact, shape (n_cliques, n_classes)."""
        made = np.rint(self.covers @ images.astype(np.float64)).astype(np.int64)
        return self.cliques.counts + made

    @property
    def image_cost(self) -> float:
        """What an image costs beside gaps: a hundred-thousandth of the smallest weight."""
        weights = self.tolerance.weights
        least = float(weights[weights > 0].min(initial=np.inf))
        return 1e-5 * least if np.isfinite(least) else 1.0

    def fewest(self, *, whole: bool, seconds: float, gap: float) -> Answer:
        """The fewest images within the tolerance and the caps."""
        cost = np.ones(self.cliques.counts.size)
        return self._solve(cost, None, whole=whole, seconds=seconds, gap=gap)

    def least_excess(self, *, whole: bool, seconds: float, gap: float) -> Answer:
        """The least weighted sum of gaps beyond the tolerance within the caps; then fewest images.

        An image costs `image_cost`, so that none is asked for in vain.
        """
        cost = np.full(self.cliques.counts.size, self.image_cost)
        return self._solve(cost, self.tolerance.weights, whole=whole, seconds=seconds, gap=gap)

    def _solve(
        self,
        cost: FloatArray,
        excess: FloatArray | None,
        *,
        whole: bool,
        seconds: float,
        gap: float,
    ) -> Answer:
        counts, covers = self.cliques.counts.astype(np.float64), self.covers
        (size, n_classes), caps = counts.shape, self.caps
        bound = np.flatnonzero(self.tolerance.weights > 0)
        picked, most_of = covers[bound], sparse.eye_array(len(bound))
        share = 1 - self.tolerance.share[bound]
        slack = self.tolerance.slack_of(n_classes)[bound]
        nothing: list[Any] = [None] * n_classes
        blocks: list[list[Any]] = []
        low: list[FloatArray] = []
        high: list[FloatArray] = []

        def add(code: int, block: Any, largest: Any, beyond: Any) -> None:
            row: list[Any] = [*nothing, largest, *([beyond] if excess is not None else [])]
            row[code] = block
            blocks.append(row)

        for code, scale in enumerate(self.scale):
            scaled = scale * counts[bound, code]
            add(code, scale * picked, -most_of, 0 * most_of)
            low.append(np.full(len(bound), -np.inf))
            high.append(-scaled)
            add(code, scale * picked, -sparse.diags_array(share), most_of)
            low.append(-slack[:, code] - scaled)
            high.append(np.full(len(bound), np.inf))
            if caps.overshoot is not None:
                room = np.maximum(counts.max(axis=1) - counts[:, code] + caps.overshoot, 0)
                add(code, covers, None, None)
                low.append(np.zeros(size))
                high.append(room)
            if caps.per_class is not None:
                add(code, sparse.csr_array(np.ones((1, size))), None, None)
                low.append(np.zeros(1))
                high.append(np.array([float(caps.per_class)]))
        if caps.budget is not None:
            row = sparse.csr_array(np.ones((1, size)))
            blocks.append([*([row] * n_classes), *([None] * (1 + (excess is not None)))])
            low.append(np.zeros(1))
            high.append(np.array([float(caps.budget)]))
        free = len(bound) * (1 if excess is None else 2)
        costs = [cost, np.zeros(len(bound))]
        if excess is not None:
            costs.append(excess[bound])
        upper = np.full(size * n_classes, np.inf if caps.query is None else float(caps.query))
        found = milp(
            np.concatenate(costs),
            constraints=LinearConstraint(
                sparse.block_array(blocks, format="csc"), np.concatenate(low), np.concatenate(high)
            ),
            bounds=Bounds(0, np.concatenate([upper, np.full(free, np.inf)])),
            integrality=np.repeat([int(whole), 0], [size * n_classes, free]),
            options={"time_limit": seconds, "mip_rel_gap": gap},
        )
        least = found.mip_dual_bound if whole else found.fun
        if found.x is None:
            return Answer(None, float(least or 0), int(found.status))
        images = found.x[: size * n_classes].reshape(n_classes, size).T
        known = found.status == OPTIMAL or whole
        return Answer(images, float(least or 0) if known else 0.0, int(found.status))
