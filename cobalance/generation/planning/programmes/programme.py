"""Plan images by linear or integer programming: the fewest that close the gaps (solver: HiGHS)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from cobalance.base import FloatArray, IntArray
from cobalance.counting import Cliques, SubsetIndex
from cobalance.generation.planning.programmes.tolerance import ROUNDING, Caps, Tolerance

# Statuses of `scipy.optimize.milp`.
OPTIMAL, INFEASIBLE = 0, 2
# How many images beyond a count a line below all counts looks at one by one.
MOST_AHEAD = 100
# The most unknowns with lines: with more, the further rows make the solver too slow.
MOST_LINES = 20_000


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
        wholes, parts = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
        size = len(cliques)
        self.covers = sparse.csr_array((np.ones(len(parts)), (parts, wholes)), shape=(size, size))

    def counts_after(self, images: IntArray) -> IntArray:
        """The counts with images: exact, shape (n_cliques, n_classes)."""
        added = np.rint(self.covers @ images.astype(np.float64)).astype(np.int64)
        return self.cliques.counts + added

    def excess(self, images: IntArray) -> FloatArray:
        """How far beyond the tolerance each gap is with images: shape (n_cliques,)."""
        return self.tolerance.excess(self.counts_after(images) * self.scale)

    def allows(self, images: IntArray) -> bool:
        """Whether images keep to all caps."""
        before, after, caps = self.cliques.counts, self.counts_after(images), self.caps

        # What a class has beyond the largest count before counts only where images were added.
        beyond = np.where(after > before, after - before.max(axis=1, keepdims=True), 0)

        capped = (
            (images.max(initial=0), caps.query),
            (images.sum(axis=0).max(initial=0), caps.per_class),
            (beyond.max(initial=0), caps.overshoot),
            (images.sum(), caps.budget),
        )
        return all(cap is None or n <= cap for n, cap in capped)

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
            of_size = sizes == size
            weights[of_size] = 1 - np.asarray(self.covers.T @ weights)[of_size]
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

        costs = [np.full(n_images, self.image_cost if may_exceed else 1.0)]
        if rows.has_largest:
            costs.append(np.zeros(len(balanced)))
        if may_exceed:
            costs.append(weights[balanced])
        cost = np.concatenate(costs)

        is_whole = (np.arange(len(cost)) < n_images) & whole
        result = milp(
            cost,
            constraints=rows.constraint(),
            bounds=self._bounds(len(cost), is_strict),
            integrality=is_whole.astype(np.int64),
            options={"time_limit": seconds, "mip_rel_gap": gap},
        )

        # A relaxation that was not solved to the end says nothing of the optimum.
        status = int(result.status)
        images = None
        if result.x is not None:
            images = result.x[:n_images].reshape(self.cliques.counts.shape[::-1]).T
        is_bound = whole or (images is not None and status == OPTIMAL)
        least = result.mip_dual_bound if whole else result.fun
        return Solution(images, float(least or 0) if is_bound else 0.0, status)

    def _bounds(self, n_unknowns: int, is_strict: bool) -> Bounds:
        """Bounds of the unknowns: images come first, class by class."""
        n_images = self.cliques.counts.size
        lower, upper = np.zeros(n_unknowns), np.full(n_unknowns, np.inf)

        if self.most is not None:
            upper[:n_images] = self.most.T.ravel()
        elif self.caps.query is not None:
            upper[:n_images] = self.caps.query

        if is_strict:
            lower[:n_images] = self.least_images().T.ravel()
            # Caps that forbid the least images leave no plan; the rows say so, not the bounds.
            lower = np.minimum(lower, upper)
        return Bounds(lower, upper)

    def _add_tolerance(self, rows: "_Rows", balanced: IntArray, *, with_lines: bool) -> None:
        """Keep each class within its caps, and of the `balanced` cliques within the tolerance."""
        counts = self.cliques.counts[balanced].astype(np.float64)
        covers, identity = self.covers[balanced], sparse.eye_array(len(balanced)).tocsr()
        share = 1 - self.tolerance.share[balanced]
        slack = self.tolerance.slack_of(counts.shape[1])[balanced]

        for code, scale in enumerate(self.scale):
            scaled = scale * counts[:, code]
            if rows.has_largest:
                # At most the largest count, and at least its share less the slack.
                rows.add({code: scale * covers}, -identity, 0 * identity, -scaled)
                shares = sparse.diags_array(share)
                rows.add({code: -scale * covers}, shares, -identity, slack[:, code] + scaled)
            else:
                # At least the share of the other class less the slack.
                other = 1 - code
                shares = sparse.diags_array(share * self.scale[other])
                lead = scaled - share * self.scale[other] * counts[:, other]
                on_images = {code: -scale * covers, other: shares @ covers}
                rows.add(on_images, None, -identity, slack[:, code] + lead)

            if with_lines:
                self._add_lines(rows, balanced, code)
            self._add_caps(rows, code)

    def _add_lines(self, rows: "_Rows", balanced: IntArray, code: int) -> None:
        """Keep counts of a class above the lines of whole counts, where these say more."""
        counts = self.cliques.counts[balanced].astype(np.float64)
        share = 1 - self.tolerance.share[balanced]
        slack = self.tolerance.slack_of(counts.shape[1])[balanced, code]
        start = counts.max(axis=1) if rows.has_largest else counts[:, 1 - code]
        first, slope = whole_line(share, slack, start)

        tighter = np.flatnonzero(first > np.maximum(share * start - slack, 0))
        first, slope, start = first[tighter], slope[tighter], start[tighter]
        missing, slopes = first - counts[tighter, code], sparse.diags_array(slope)
        covers = self.covers[balanced][tighter]
        if rows.has_largest:
            largest = slopes @ sparse.eye_array(len(balanced)).tocsr()[tighter]
            rows.add({code: -covers}, largest, None, slope * start - missing)
        else:
            rows.add({code: -covers, 1 - code: slopes @ covers}, None, None, -missing)

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
            # Each class is as large as the first one: two inequalities make an equation.
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
        # Of two classes, the other one is the largest.
        self.has_largest = n_classes != 2
        self._n_classes, self._has_excess = n_classes, has_excess
        self._blocks: list[list[Any]] = []
        self._most: list[FloatArray] = []

    def add(self, on_images: dict[int, Any], largest: Any, beyond: Any, most: FloatArray) -> None:
        """Add rows that are at most `most`; None for a block of zeros."""
        row = list(map(on_images.get, range(self._n_classes)))
        if self.has_largest:
            row.append(largest)
        if self._has_excess:
            row.append(beyond)
        self._blocks.append(row)
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
    # Beyond the counts that are looked at one by one, this slope is below all that follow.
    slope = share - (first - exact) / MOST_AHEAD
    for ahead in range(1, MOST_AHEAD):
        then = np.ceil(exact + share * ahead - ROUNDING)
        slope = np.minimum(slope, (then - first) / ahead)
    return first, np.maximum(slope, 0)
