"""Plan images by linear or integer programming: the fewest that close the gaps (solver: HiGHS)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.counting.cliques import Cliques
from cobalance.counting.subsets import SubsetIndex
from cobalance.generation.planning.programmes.tolerance import ROUNDING, Caps, Tolerance

OPTIMAL, INFEASIBLE = 0, 2  # of scipy.optimize
MOST_AHEAD = 100  # images beyond a count that are looked at for a line below
MOST_LINES = 20_000  # unknowns: more rows make the solver too slow on more


@dataclass(frozen=True)
class Solution:
    """A solution of the solver.

    Parameters
    ----------
    images : float array, shape (n_cliques, n_classes), or None
        None where it found none.
    bound : float
        Lower bound of what was minimised; 0 if unknown.
    status : int
        As `scipy.optimize.milp` returns it.
    """

    images: FloatArray | None
    bound: float
    status: int


class Programme:
    """Images of every class for every clique such that gaps stay within a tolerance.

    *Unknowns*: x[q, c] images of class c that contain exactly clique q. Clique t then has
    n[t, c] + the sum of x[q, c] over all q that contain t.

    *Tolerance*: times `scale`[c], these counts lie between (1 - share) M - slack and M, where M[t],
    the largest of them, is a further unknown. This is linear for any number of classes. Of two
    classes each is compared with the other one, which takes fewer rows and no M.

    *Lines*: where counts are whole, they lie on or above a line that is above the lower limit,
    see `whole_line`. That is required, too: it leaves no plan out, and brings the linear
    relaxation close to whole images.

    Parameters
    ----------
    cliques : Cliques
        The cliques to balance, which are also those that may be asked for.
    scale : float array, shape (n_classes,)
        1 for counts; for rates, the mean size of a class over that of each.
    most : float array, shape (n_cliques, n_classes), or None
        Where given, the most images of each query; class sizes afterwards, times `scale`, are then
        all equal.
    """

    def __init__(
        self,
        cliques: Cliques,
        tolerance: Tolerance,
        caps: Caps,
        scale: FloatArray,
        *,
        most: FloatArray | None = None,
    ) -> None:
        self.cliques, self.tolerance, self.caps, self.scale = cliques, tolerance, caps, scale
        self.most = most
        pairs = list(SubsetIndex(cliques.members).subsets(cliques.members))
        wholes, parts = (np.concatenate(each) for each in zip(*pairs, strict=True))
        size = len(cliques)
        self.covers = sparse.csr_array((np.ones(len(parts)), (parts, wholes)), shape=(size, size))

    def counts_after(self, images: IntArray) -> IntArray:
        """The counts with images: exact, shape (n_cliques, n_classes)."""
        made = np.rint(self.covers @ images.astype(np.float64)).astype(np.int64)
        return self.cliques.counts + made

    def excess(self, images: IntArray) -> FloatArray:
        """How far beyond the tolerance each gap is with images: shape (n_cliques,)."""
        return self.tolerance.excess(self.counts_after(images) * self.scale)

    def allows(self, images: IntArray) -> bool:
        """Whether images keep to all caps."""
        before, after, caps = self.cliques.counts, self.counts_after(images), self.caps
        beyond = np.where(after > before, after - before.max(axis=1, keepdims=True), 0)
        return all(
            cap is None or found <= cap
            for cap, found in (
                (caps.query, images.max(initial=0)),
                (caps.per_class, images.sum(axis=0).max(initial=0)),
                (caps.overshoot, beyond.max(initial=0)),
                (caps.budget, images.sum()),
            )
        )

    @property
    def image_cost(self) -> float:
        """Cost of an image relative to gaps: 1e-5 of the smallest weight."""
        weights = self.tolerance.weights
        least = float(weights[weights > 0].min(initial=np.inf))
        return 1e-5 * least if np.isfinite(least) else 1.0

    def euler_weights(self) -> FloatArray:
        """Weights that add up to 1 over all cliques within any set of concepts.

        The sum of counts with these weights counts an image once, however many cliques it shows.
        """
        sizes, weights = self.cliques.sizes(), np.zeros(len(self.cliques))
        for size in sorted(set(sizes.tolist())):
            weights[sizes == size] = 1 - np.asarray(self.covers.T @ weights)[sizes == size]
        return weights

    def least_images(self) -> FloatArray:
        """Lower bound of the images of each query: the gaps of the largest cliques."""
        counts, sizes = self.cliques.counts.astype(np.float64), self.cliques.sizes()
        lowest = np.ceil(self.tolerance.lowest_counts(counts) - ROUNDING)
        largest = (sizes == sizes.max())[:, None]
        return np.where(largest, np.maximum(lowest - counts, 0), 0.0)

    def solve(
        self, *, whole: bool, seconds: float, gap: float, may_exceed: bool = False
    ) -> Solution:
        """The fewest images within the tolerance and the caps.

        Where gaps `may_exceed` the tolerance, the least weighted sum of what is beyond it within
        the caps, then fewest images: one costs `image_cost`, so that none is asked for in vain.
        """
        n_images, weights = self.cliques.counts.size, self.tolerance.weights
        is_strict = not may_exceed and bool((self.scale == 1).all())
        balanced = np.flatnonzero(weights > 0)
        rows = _Rows(self.cliques.counts.shape[1], may_exceed)
        self._add_tolerance(rows, balanced, with_lines=is_strict and n_images <= MOST_LINES)
        self._add_totals(rows)
        costs = np.concatenate(
            [
                np.full(n_images, self.image_cost if may_exceed else 1.0),
                np.zeros(len(balanced) * rows.has_largest),
                weights[balanced] if may_exceed else [],
            ]
        )
        lower, upper = np.zeros(len(costs)), np.full(len(costs), np.inf)
        upper[:n_images] = np.inf if self.caps.query is None else self.caps.query
        if self.most is not None:
            upper[:n_images] = self.most.T.ravel()
        if is_strict:
            lower[:n_images] = self.least_images().T.ravel()
            lower = np.minimum(lower, upper)  # what caps forbid, the rows forbid
        found = milp(
            costs,
            constraints=rows.constraint(),
            bounds=Bounds(lower, upper),
            integrality=((np.arange(len(costs)) < n_images) & whole).astype(np.int64),
            options={"time_limit": seconds, "mip_rel_gap": gap},
        )
        least = found.mip_dual_bound if whole else found.fun
        if found.x is None:
            return Solution(None, float(least or 0) if whole else 0.0, int(found.status))
        images = found.x[:n_images].reshape(self.cliques.counts.shape[::-1]).T
        known = found.status == OPTIMAL or whole
        return Solution(images, float(least or 0) if known else 0.0, int(found.status))

    def _add_tolerance(self, rows: "_Rows", balanced: IntArray, *, with_lines: bool) -> None:
        """Keep each class within its caps, and of the `balanced` cliques within the tolerance."""
        counts = self.cliques.counts[balanced].astype(np.float64)
        covers, identity = self.covers[balanced], sparse.eye_array(len(balanced)).tocsr()
        share = 1 - self.tolerance.share[balanced]
        slack = self.tolerance.slack_of(counts.shape[1])[balanced]
        for code, scale in enumerate(self.scale):
            scaled = scale * counts[:, code]
            if rows.has_largest:  # at most that, and at least its share less the slack
                rows.add({code: scale * covers}, -identity, 0 * identity, -scaled)
                kept = sparse.diags_array(share)
                rows.add({code: -scale * covers}, kept, -identity, slack[:, code] + scaled)
            else:  # at least the share of the other class less the slack
                other = 1 - code
                kept = sparse.diags_array(share * self.scale[other])
                lead = scaled - share * self.scale[other] * counts[:, other]
                on_images = {code: -scale * covers, other: kept @ covers}
                rows.add(on_images, None, -identity, slack[:, code] + lead)
            if with_lines:
                start = counts.max(axis=1) if rows.has_largest else counts[:, 1 - code]
                first, slope = whole_line(share, slack[:, code], start)
                tighter = np.flatnonzero(first > np.maximum(share * start - slack[:, code], 0))
                first, slope, start = first[tighter], slope[tighter], start[tighter]
                missing, kept = first - counts[tighter, code], sparse.diags_array(slope)
                on_images = {code: -covers[tighter]}
                if rows.has_largest:
                    rows.add(on_images, kept @ identity[tighter], None, slope * start - missing)
                else:
                    on_images[1 - code] = kept @ covers[tighter]
                    rows.add(on_images, None, None, -missing)
            self._add_caps(rows, code)

    def _add_caps(self, rows: "_Rows", code: int) -> None:
        """Keep a class within the caps on overshoot and on the class."""
        counts = self.cliques.counts.astype(np.float64)
        if self.caps.overshoot is not None:
            room = counts.max(axis=1) - counts[:, code] + self.caps.overshoot
            rows.add({code: self.covers}, None, None, np.maximum(room, 0))
        if self.caps.per_class is not None:
            every = sparse.csr_array(np.ones((1, len(counts))))
            rows.add({code: every}, None, None, np.array([float(self.caps.per_class)]))

    def _add_totals(self, rows: "_Rows") -> None:
        """Require class sizes that are equal where `most` is given, and the budget."""
        n_cliques, n_classes = self.cliques.counts.shape
        every = sparse.csr_array(np.ones((1, n_cliques)))
        if self.most is not None:
            sizes, first = self.cliques.class_sizes * self.scale, self.scale[0] * every
            for code, scale in enumerate(self.scale[1:], start=1):
                lead = sizes[[code]] - sizes[0]
                rows.add({0: first, code: -scale * every}, None, None, lead)
                rows.add({0: -first, code: scale * every}, None, None, -lead)
        if self.caps.budget is not None:
            in_all = dict.fromkeys(range(n_classes), every)
            rows.add(in_all, None, None, np.array([float(self.caps.budget)]))


class _Rows:
    """Rows of a programme: images by class, the largest count where classes are not two, excess."""

    def __init__(self, n_classes: int, has_excess: bool) -> None:
        self.has_largest = n_classes != 2  # of two classes, the other one is the largest
        self._n_classes, self._has_excess = n_classes, has_excess
        self._blocks: list[list[Any]] = []
        self._most: list[FloatArray] = []

    def add(self, on_images: dict[int, Any], largest: Any, beyond: Any, most: FloatArray) -> None:
        """Add rows that are at most `most`; None for a block of zeros."""
        row = [on_images.get(code) for code in range(self._n_classes)]
        row += [largest] if self.has_largest else []
        self._blocks.append([*row, *([beyond] if self._has_excess else [])])
        self._most.append(most)

    def constraint(self) -> LinearConstraint:
        """All rows as one constraint."""
        matrix = sparse.block_array(self._blocks, format="csc")
        return LinearConstraint(matrix, ub=np.concatenate(self._most))


def whole_line(
    share: FloatArray, slack: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The steepest line from `start` below ``ceil(share * n - slack)`` for all whole n >= start.

    Returns
    -------
    first, slope : float array, shape (n_cliques,)
        ``ceil(share * n - slack) >= first + slope * (n - start)``, and equal at the start.

    Examples
    --------
    90% of 5 rounds up to 5; 90% of 10 is 9.

    >>> whole_line(np.array([0.9]), np.array([0.0]), np.array([5.0]))
    (array([5.]), array([0.8]))
    """
    exact = share * start - slack
    first = np.ceil(exact - ROUNDING)
    slope = share - (first - exact) / MOST_AHEAD  # below all that follow
    for ahead in range(1, MOST_AHEAD):
        then = np.ceil(exact + share * ahead - ROUNDING)
        slope = np.minimum(slope, (then - first) / ahead)
    return first, np.maximum(slope, 0)
