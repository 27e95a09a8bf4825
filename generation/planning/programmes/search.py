"""Search for the best plan: programmes, rounding, and what is known of the result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from generation.planning.plan import PlannedImages
from generation.planning.programmes.programme import INFEASIBLE, OPTIMAL, Answer, Programme
from generation.planning.programmes.rounding import (
    add_within,
    cut,
    fill,
    fill_size,
    level,
    round_down,
)
from generation.planning.programmes.tolerance import Caps, Tolerance
from generation.planning.programmes.verdicts import class_scale, impossible, judged, settled
from graph.arrays import FloatArray, IntArray
from graph.counting.cliques import Cliques

MOST_WHOLE = 20_000  # unknowns: of larger programmes, the largest cliques are rounded first
NEARLY = 1e-3  # how near to the best the small cliques of a large programme are
MOST_STEPS = 30  # of class sizes, for rates, by programmes
SETTLED = 1e-5  # change of class sizes, as a share
MOST_FILLS = 1000  # of class sizes, for rates, by filling up alone
RUNAWAY = 1000  # images beyond twice those that were planned: class sizes drift apart


@dataclass(frozen=True, eq=False)
class Search:
    """A search for images of cliques that are all to be balanced.

    Parameters
    ----------
    cliques : Cliques
    tolerance : Tolerance
    caps : Caps
        Where the budget is too small for the tolerance, what is left beyond it is minimised.
    exact : int array, shape (n_cliques, n_classes)
        A plan without any gap, which caps may forbid: the fewest images of all such plans.
    rates : bool
        Compare shares of classes, not counts.
    seconds, solver_gap : float
        Of each programme.
    """

    cliques: Cliques
    tolerance: Tolerance
    caps: Caps
    exact: IntArray
    rates: bool = False
    seconds: float = 10
    solver_gap: float = 0

    def run(self) -> PlannedImages:
        """Search.

        Where no plan within the tolerance was found, and it is not known that there is none, the
        plan within the caps that leaves the least beyond the tolerance.

        Raises
        ------
        OptionError
            The caps leave no plan within the tolerance, and there is no budget.
        """
        found = self._rates() if self.rates else self._fewest()
        budget = self.caps.budget
        if budget is None and found is INFEASIBLE:
            raise impossible(self.caps)
        plan = found if isinstance(found, PlannedImages) else None
        if plan is not None and (budget is None or plan.images.sum() <= budget):
            return plan
        nearest = self._within_budget(plan)
        if budget is not None:
            return nearest
        note = f"No plan within the tolerance was found under the caps. {nearest.note}"
        return replace(nearest, proven=False, note=note.rstrip())

    @property
    def _is_exact(self) -> bool:
        tolerance = self.tolerance
        loose = tolerance.share.any() or tolerance.slack.any() or not tolerance.weights.all()
        capped = replace(self.caps, budget=None) != Caps()
        return not (loose or self.rates or capped)

    def _ones(self) -> FloatArray:
        return np.ones(len(self.cliques.classes))

    def _programme(self, scale: FloatArray, *, budget: bool = False) -> Programme:
        tolerance = self.tolerance
        if self.rates:  # to the nearest image
            nearest = np.broadcast_to(scale, self.cliques.counts.shape)
            tolerance = replace(tolerance, slack=nearest)
        caps = self.caps if budget else replace(self.caps, budget=None)
        return Programme(self.cliques, tolerance, caps, scale)

    def _rates(self) -> PlannedImages | int | None:
        """The best of plans that keep the ratio of class sizes, and of those that change it."""
        changed = self._rates_by_steps()
        kept = self._rates_in_proportion()
        if kept is None or not isinstance(changed, PlannedImages):
            return kept or changed
        made, other = int(kept.images.sum()), int(changed.images.sum())
        if changed.bound is None:  # beyond the tolerance, for want of sizes that settle
            return kept if made <= 2 * other + RUNAWAY else changed
        return kept if made < other else changed

    def _rates_in_proportion(self) -> PlannedImages | None:
        """Images such that classes grow in proportion: their sizes are known beforehand.

        Half of the nearest image is left to sizes that are whole numbers.
        """
        scale, n = class_scale(self.cliques.class_sizes), len(self.cliques)
        half = replace(self.tolerance, slack=np.tile(scale / 2, (n, 1)))
        caps = replace(self.caps, budget=None)
        programme = Programme(self.cliques, half, caps, scale, in_proportion=True)
        answer = programme.fewest(whole=False, seconds=self.seconds, gap=self.solver_gap)
        if answer.images is None:
            return None
        images = level(programme, fill(programme, round_down(answer.images)))
        sizes = self.cliques.class_sizes + images.sum(axis=0)
        return settled(images) if self._fits(self._programme(class_scale(sizes)), images) else None

    def _rates_by_steps(self) -> PlannedImages | int | None:
        """Fix class sizes, plan, and fix those that follow, until they agree; then round up.

        The sizes may drift apart, as an image for one clique dilutes all others of its class. Then
        it is the step that they change least in, rounded up for the sizes it was planned for.
        """
        sizes = self.cliques.class_sizes
        scale, least = class_scale(sizes), np.inf
        images, programme = np.zeros_like(self.exact), self._programme(scale)
        for _ in range(MOST_STEPS):
            step = self._programme(scale)
            answer = step.fewest(whole=False, seconds=self.seconds, gap=self.solver_gap)
            if answer.status == INFEASIBLE:
                return INFEASIBLE
            if answer.images is None:
                break
            before, scale = scale, class_scale(sizes + answer.images.sum(axis=0))
            change = float(np.abs(scale / before - 1).max())
            if change < least:
                least, images, programme = change, round_down(answer.images), step
            if change < SETTLED:
                break
        start = fill(programme, images)
        for _ in range(MOST_FILLS):
            programme = self._programme(class_scale(sizes + images.sum(axis=0)))
            filled = fill(programme, images)
            if (filled == images).all() or filled.sum() > 2 * start.sum() + RUNAWAY:
                break
            images = filled
        if (filled != images).any():
            return self._unsettled(start)
        if not programme.caps.allow(self.cliques.counts, programme.after(images), images):
            return None
        return settled(images)

    def _unsettled(self, images: IntArray) -> PlannedImages | None:
        """A plan for class sizes that are not quite those that follow from it."""
        sizes = self.cliques.class_sizes + images.sum(axis=0)
        programme = self._programme(class_scale(sizes))
        after = programme.after(images)
        if not programme.caps.allow(self.cliques.counts, after, images):
            return None
        beyond = programme.tolerance.excess(after * programme.scale)
        note = (
            f"The class sizes that rates refer to do not settle: {np.count_nonzero(beyond):,} gaps "
            f"are wider than allowed, by up to {np.ceil(beyond.max(initial=0)):,.0f} images."
        )
        return PlannedImages(images, proven=False, note=note)

    def _fewest(self) -> PlannedImages | int | None:
        """The fewest images; where none within the tolerance is found None, or INFEASIBLE."""
        if self._is_exact:  # as Algorithm 1 is optimal then
            return PlannedImages(self.exact, proven=True, bound=float(self.exact.sum()))
        programme, status = self._programme(self._ones()), OPTIMAL
        bound = float(programme.least_images().sum())
        candidates = [fill(programme, np.zeros_like(self.exact)), self.exact]
        if self._is_small:
            answer = programme.fewest(whole=True, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))
        else:
            candidates.append(fill(programme, self._by_size(programme)))
        fits = any(self._fits(programme, one) for one in candidates)
        if status not in (OPTIMAL, INFEASIBLE) or not (self._is_small or fits):
            answer = programme.fewest(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            if answer.images is not None:
                candidates.append(fill(programme, round_down(answer.images)))
        fit = [one for one in candidates if self._fits(programme, one)]
        if not fit:
            return INFEASIBLE if status == INFEASIBLE else None
        best = min(fit, key=lambda one: int(one.sum()))
        return judged(best, float(best.sum()), float(np.ceil(bound - 1e-6)), "images")

    def _by_size(self, programme: Programme) -> IntArray:
        """Whole images of the largest cliques first, then the best for the others.

        More images of a large clique than it lacks can spare some of smaller ones. Fractions tell
        how many, of the most frequent large cliques that may have more. Of the caps only that of a
        query is kept to, and gaps of smaller cliques may stay.
        """
        sizes = self.cliques.sizes()
        size = int(sizes.max())
        images = fill_size(programme, np.zeros_like(self.exact), size)
        smaller, after = np.flatnonzero(sizes < size), programme.after(images)
        if not len(smaller):
            return images
        roomy = np.flatnonzero((sizes == size) & programme.tolerance.has_room(after))
        most = max(MOST_WHOLE // after.shape[1] - len(smaller), 0)
        frequent = roomy[np.argsort(-after[roomy].sum(axis=1), kind="stable")[:most]]
        if len(frequent):
            both = np.append(smaller, frequent)
            answer = self._rest(both, after)._answer(whole=False)
            if answer.images is not None:
                images[frequent] += round_down(answer.images[len(smaller) :])
                images = fill_size(programme, images, size)
        rest = self._rest(smaller, programme.after(images))
        if not rest._is_small:
            images[smaller] = rest._by_size(rest._programme(self._ones()))
            return images
        answer = rest._answer(whole=True)
        if answer.images is not None:
            images[smaller] = np.rint(answer.images)
        return images

    def _rest(self, rows: IntArray, after: IntArray) -> "Search":
        """The search for some cliques, once others have their images."""
        cliques = replace(self.cliques.take(rows), counts=after[rows])
        caps, exact = Caps(self.caps.query), self.exact[rows]
        return replace(
            self, cliques=cliques, tolerance=self.tolerance.take(rows), caps=caps, exact=exact
        )

    def _answer(self, *, whole: bool) -> Answer:
        gap = max(self.solver_gap, NEARLY)
        programme = self._programme(self._ones())
        return programme.fewest(whole=whole, seconds=self.seconds / 2, gap=gap)

    @property
    def _is_small(self) -> bool:
        return self.cliques.counts.size <= MOST_WHOLE

    def _fits(self, programme: Programme, images: IntArray) -> bool:
        after = programme.after(images)
        within = not programme.tolerance.excess(after * programme.scale).any()
        return within and programme.caps.allow(self.cliques.counts, after, images)

    def _within_budget(self, full: PlannedImages | None) -> PlannedImages:
        """The least weighted sum of gaps beyond the tolerance."""
        shared = [] if full is None else [cut(full.images, self.caps)]
        scale = self._ones()
        if self.rates:
            scale = class_scale(self.cliques.class_sizes + sum(one.sum(axis=0) for one in shared))
        programme = self._programme(scale, budget=True)
        nothing = np.zeros_like(self.exact)
        candidates = [nothing, cut(self.exact, self.caps), *shared]
        if not self.rates:
            candidates.append(cut(fill(programme, nothing), self.caps))
        bound, status = 0.0, None
        if self._is_small:
            answer = programme.least_excess(whole=True, seconds=self.seconds, gap=self.solver_gap)
            bound, status = answer.bound, answer.status
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))
        if status != OPTIMAL:
            answer = programme.least_excess(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound = max(bound, answer.bound)
            if answer.images is not None:
                down = round_down(answer.images)
                candidates += [down, add_within(programme, down, answer.images)]
        return self._least(programme, candidates, bound)

    def _least(
        self, programme: Programme, candidates: Sequence[IntArray], bound: float
    ) -> PlannedImages:
        def remainder(images: IntArray) -> float:
            beyond = programme.tolerance.excess(programme.after(images) * programme.scale)
            return float((beyond * programme.tolerance.weights).sum())

        counts = self.cliques.counts
        fit = [one for one in candidates if programme.caps.allow(counts, programme.after(one), one)]
        best = min(fit, key=lambda one: (round(remainder(one), 6), int(one.sum())))
        cost = programme.image_cost * int(best.sum())
        found = judged(best, remainder(best), bound - cost, "images of gaps beyond the tolerance")
        if not self.rates:
            return found
        note = "Class sizes follow from the plan, so that less may be left."
        return PlannedImages(best, proven=False, note=note)
