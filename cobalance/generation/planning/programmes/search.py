"""Search for the best plan: programmes, rounding, and proof."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.counting.cliques import Cliques
from cobalance.generation.planning.plan import PlannedImages
from cobalance.generation.planning.programmes.programme import (
    INFEASIBLE,
    OPTIMAL,
    Programme,
    Solution,
)
from cobalance.generation.planning.programmes.rounding import (
    apply_caps,
    raise_size,
    raise_to_tolerance,
    round_down,
    round_near,
    round_up_within,
)
from cobalance.generation.planning.programmes.tolerance import (
    ROUNDING,
    Caps,
    Tolerance,
    bounded_plan,
    class_scale,
    impossible,
    plan_of_rates,
)

MOST_WHOLE = 20_000  # unknowns: of larger programmes, the largest cliques are rounded first
NEARLY = 1e-3  # how near to the best the small cliques of a large programme are
MOST_RATES = 6_500  # unknowns of a programme of rates
REPAIRS = 5  # of a plan by rates, as its images change class sizes
RATIO_STEPS = 5  # in which the ratio of class sizes settles
MARGINS = (0.9, 0.6)  # of the nearest image: the rest is left to class sizes
LINEAR = 0.45  # of that: the rest is left to rounding


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
        return not (loose or self.rates or self._is_capped)

    @property
    def _is_capped(self) -> bool:
        return replace(self.caps, budget=None) != Caps()

    def _programme(self, scale: FloatArray | None = None, *, budget: bool = False) -> Programme:
        tolerance = self.tolerance
        if scale is None:
            scale = np.ones(len(self.cliques.classes))
        if self.rates:  # to the nearest image
            nearest = np.broadcast_to(scale, self.cliques.counts.shape)
            tolerance = replace(tolerance, slack=nearest)
        caps = self.caps if budget else replace(self.caps, budget=None)
        return Programme(self.cliques, tolerance, caps, scale)

    def _rates(self) -> PlannedImages | int | None:
        """The cheapest plan within this tolerance of those for it and for narrower ones.

        Tolerances are whole percents, rounded down. What is planned for a wider one is thus never
        dearer. Narrower ones are left out once the images of the largest cliques, which no plan for
        them may have fewer than, are as many as those of the best plan.
        Where none is found, and there are no caps, it is the next wider tolerance that has one.
        """
        asked = int(100 * float(self.tolerance.share.max()) + 1e-9)
        nothing, largest = np.zeros_like(self.exact), int(self.cliques.sizes().max())
        if self._at(asked)._holds(nothing):
            return plan_of_rates(nothing)
        scales = [self._at(0)._balanced_scale(margin) for margin in MARGINS]
        leasts: dict[int, int] = {}
        plans: dict[int, list[IntArray]] = {}
        for percent in range(asked, asked + 1 if self._is_capped else 100):
            best, most = None, np.inf
            for step in range(percent, -1, -1):
                one = self._at(step)
                if step not in leasts:
                    programme = one._programme(scales[0])
                    leasts[step] = int(raise_size(programme, nothing, largest).sum())
                if leasts[step] >= most:
                    break
                if step not in plans:
                    plans[step] = one._whole_rates(scales)
                for plan in plans[step]:
                    if leasts[step] <= plan.sum() < most and self._at(percent)._holds(plan):
                        best, most = plan, plan.sum()
            if best is not None:
                note = f"No plan within {asked}% was found; this one is within {percent}%."
                cheapest = plan_of_rates(best)
                return cheapest if percent == asked else replace(cheapest, note=note)
        if self._is_capped:
            return INFEASIBLE
        note = "No plan by rates was found, within this tolerance or a wider one."
        return None if self.caps.budget else PlannedImages(nothing, proven=False, note=note)

    def _balanced_scale(self, margin: float) -> FloatArray:
        """The scale of class sizes at which all rates can be equal, to the nearest image.

        A class's size less a weighted sum of its counts stays as it is, whatever images are made.
        Where rates are equal, it is the same share of every class, but for what whole images of
        large cliques are below that.
        """
        sizes, before = self.cliques.sizes(), self.cliques.class_sizes
        scale = class_scale(before)
        programme = self._strict(scale, margin)
        weights = programme.euler_weights()
        for _ in range(RATIO_STEPS):
            filled = raise_to_tolerance(programme, np.zeros_like(self.exact), int(sizes.min()))
            after = programme.counts_after(filled)
            short = after - (after * scale).max(axis=1, keepdims=True) / scale
            short[sizes == sizes.min()] = 0
            left = before - weights @ (self.cliques.counts - short)
            if (left < 1).any() and (left > -1).any():
                break
            scale = class_scale(np.abs(left))
            programme = self._strict(scale, margin)
        return scale

    def _whole_rates(self, scales: list[FloatArray]) -> list[IntArray]:
        """Plans with wider and wider margins, up to one that is within the tolerance."""
        plans: list[IntArray] = []
        for scale, margin in zip(scales, MARGINS, strict=True):
            plan = self._near_tolerance(scale, margin)
            if plan is not None:
                plans.append(plan)
                if self._holds(plan):
                    break
        return plans

    def _near_tolerance(self, scale: FloatArray, margin: float) -> IntArray | None:
        """Whole images of few in all, with rates about within the tolerance.

        The largest cliques get what they lack. How many more images of them, within their
        tolerance, and of the others are best, a linear programme tells.
        """
        sizes, n_classes = self.cliques.sizes(), len(scale)
        kinds = sorted(set(sizes.tolist()))
        fits = [one for one in kinds[:-1] if (sizes <= one).sum() * n_classes <= MOST_RATES]
        low = max(fits, default=kinds[0])
        programme = self._strict(scale, margin)
        images = raise_to_tolerance(programme, np.zeros_like(self.exact), low)
        after = programme.counts_after(images)
        tolerance = programme.tolerance
        highest = (after * scale + tolerance.slack).min(axis=1) / (1 - tolerance.share)
        room = np.floor(np.maximum(highest[:, None] / scale - after, 0) + ROUNDING)
        room[(sizes <= low) | (tolerance.weights == 0)] = np.inf
        if self.caps.query is not None:
            room = np.minimum(room, np.maximum(self.caps.query - images, 0))
        next_size = min((one for one in kinds if one > low), default=0)
        roomy = np.flatnonzero((sizes == next_size) & room.any(axis=1))
        rows = np.flatnonzero(sizes <= low)
        most = max(MOST_RATES // n_classes - len(rows), 0)
        frequent = roomy[np.argsort(-after[roomy].sum(axis=1), kind="stable")[:most]]
        rows = np.append(rows, frequent)
        cliques = replace(
            self.cliques.take(rows),
            counts=after[rows],
            class_sizes=self.cliques.class_sizes + images.sum(axis=0),
        )
        weights = np.where(sizes <= low, tolerance.weights, 0)
        half = replace(tolerance, slack=tolerance.slack * LINEAR, weights=weights).take(rows)
        part = Programme(cliques, half, replace(self.caps, budget=None), scale, most=room[rows])
        answer = part.solve(whole=False, seconds=np.inf, gap=0)
        if answer.images is None:
            return None
        wanted = images.astype(np.float64)
        wanted[rows] += answer.images
        before = self.cliques.class_sizes
        images = round_near(programme, wanted, np.rint(before + wanted.sum(axis=0)))
        for _ in range(REPAIRS):
            images = raise_to_tolerance(
                self._programme(class_scale(before + images.sum(axis=0))), images
            )
        return images

    def _strict(self, scale: FloatArray, margin: float) -> Programme:
        programme = self._programme(scale)
        programme.tolerance = replace(programme.tolerance, slack=margin * programme.tolerance.slack)
        return programme

    def _at(self, percent: int) -> "Search":
        share = np.full(len(self.cliques), percent / 100)
        return replace(self, tolerance=replace(self.tolerance, share=share))

    def _holds(self, images: IntArray) -> bool:
        """Whether rates are within the tolerance, to the nearest image."""
        sizes = self.cliques.class_sizes + images.sum(axis=0)
        return _fits(self._programme(class_scale(sizes)), images)

    def _fewest(self) -> PlannedImages | int | None:
        """The fewest images; where none within the tolerance is found None, or INFEASIBLE."""
        if self._is_exact:  # as Algorithm 1 is optimal then
            return PlannedImages(self.exact, proven=True, bound=float(self.exact.sum()))
        programme, status, finished = self._programme(), OPTIMAL, False
        bound = float(programme.least_images().sum())
        candidates = [raise_to_tolerance(programme, np.zeros_like(self.exact)), self.exact]
        if self._is_small:
            answer = programme.solve(whole=True, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            finished = status == OPTIMAL
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))
        else:
            candidates.append(raise_to_tolerance(programme, self._by_size(programme)))
        fits = any(_fits(programme, one) for one in candidates)
        if status not in (OPTIMAL, INFEASIBLE) or not (self._is_small or fits):
            answer = programme.solve(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            if answer.images is not None:
                candidates.append(raise_to_tolerance(programme, round_down(answer.images)))
        fit = [one for one in candidates if _fits(programme, one)]
        if not fit:
            return INFEASIBLE if status == INFEASIBLE else None
        best = min(fit, key=lambda one: int(one.sum()))
        return bounded_plan(
            best, float(best.sum()), float(np.ceil(bound - ROUNDING)), "images", finished=finished
        )

    def _by_size(self, programme: Programme) -> IntArray:
        """Whole images of the largest cliques first, then the best for the others.

        More images of a large clique than it lacks can spare some of smaller ones. Fractions tell
        how many, of the most frequent large cliques that may have more. Of the caps only that of a
        query is kept to, and gaps of smaller cliques may stay.
        """
        sizes = self.cliques.sizes()
        size = int(sizes.max())
        images = raise_size(programme, np.zeros_like(self.exact), size)
        smaller, after = np.flatnonzero(sizes < size), programme.counts_after(images)
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
                images = raise_size(programme, images, size)
        rest = self._rest(smaller, programme.counts_after(images))
        if not rest._is_small:
            images[smaller] = rest._by_size(rest._programme())
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

    def _answer(self, *, whole: bool) -> Solution:
        gap = max(self.solver_gap, NEARLY)
        return self._programme().solve(whole=whole, seconds=self.seconds / 2, gap=gap)

    @property
    def _is_small(self) -> bool:
        return self.cliques.counts.size <= MOST_WHOLE

    def _within_budget(self, full: PlannedImages | None) -> PlannedImages:
        """The least weighted sum of gaps beyond the tolerance."""
        shared = [] if full is None else [apply_caps(full.images, self.caps)]
        scale = None
        if self.rates:
            scale = class_scale(self.cliques.class_sizes + sum(one.sum(axis=0) for one in shared))
        programme = self._programme(scale, budget=True)
        nothing = np.zeros_like(self.exact)
        candidates = [nothing, apply_caps(self.exact, self.caps), *shared]
        if not self.rates:
            candidates.append(apply_caps(raise_to_tolerance(programme, nothing), self.caps))
        bound, status = 0.0, None
        solve = partial(programme.solve, seconds=self.seconds, gap=self.solver_gap, may_exceed=True)
        if self._is_small:
            answer = solve(whole=True)
            bound, status = answer.bound, answer.status
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))
        finished = status == OPTIMAL
        if not finished:
            answer = solve(whole=False)
            bound = max(bound, answer.bound)
            if answer.images is not None:
                down = round_down(answer.images)
                candidates += [down, round_up_within(programme, down, answer.images)]
        return self._least(programme, candidates, bound, finished)

    def _least(
        self, programme: Programme, candidates: Sequence[IntArray], bound: float, finished: bool
    ) -> PlannedImages:
        def remainder(images: IntArray) -> float:
            return float((programme.excess(images) * programme.tolerance.weights).sum())

        fit = [one for one in candidates if programme.allows(one)]
        best = min(fit, key=lambda one: (round(remainder(one), 6), int(one.sum())))
        cost = programme.image_cost * int(best.sum())
        what = "images of gaps beyond the tolerance"
        found = bounded_plan(best, remainder(best), bound - cost, what, finished=finished)
        if not self.rates:
            return found
        note = "Class sizes follow from the plan, so that less may be left."
        return PlannedImages(best, proven=False, note=note)


def _fits(programme: Programme, images: IntArray) -> bool:
    """Whether images bring every gap within the tolerance, and keep to the caps."""
    return not programme.excess(images).any() and programme.allows(images)
