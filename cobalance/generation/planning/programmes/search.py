"""Search for the best plan: programmes, rounding, and proof."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cobalance.base import FloatArray, IntArray
from cobalance.counting import Cliques
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

# The most unknowns of a whole programme: of larger ones the largest cliques are rounded first.
MOST_WHOLE = 20_000
# How near to the best the smaller cliques of a large programme are, as a share of the images.
NEARLY = 1e-3
# The most unknowns of a programme of rates.
MOST_RATES = 6_500
# How often a plan of rates is mended, as its images change class sizes.
REPAIRS = 5
# Steps in which the ratio of class sizes settles.
RATIO_STEPS = 5
# Shares of the slack, which is one image, that a plan of rates aims at: class sizes take more.
MARGINS = (0.9, 0.6)
# Share of that for the linear programme; the rest is left to rounding.
LINEAR = 0.45


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
        outcome = self._rates() if self.rates else self._fewest()
        budget = self.caps.budget
        if budget is None and outcome is INFEASIBLE:
            raise impossible(self.caps)
        plan = outcome if isinstance(outcome, PlannedImages) else None
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

        if self.rates:
            # Rates cannot be told apart by less than an image.
            one_image = np.broadcast_to(scale, self.cliques.counts.shape)
            tolerance = replace(tolerance, slack=one_image)

        caps = self.caps if budget else replace(self.caps, budget=None)
        return Programme(self.cliques, tolerance, caps, scale)

    def _rates(self) -> PlannedImages | int | None:
        """The cheapest plan within this tolerance of those for it and for narrower ones.

        Tolerances are whole percents, rounded down. What is planned for a wider one is thus never
        dearer. Narrower ones are left out once the images of the largest cliques, which no plan for
        them may have fewer than, are as many as those of the best plan.
        Where none is found, and there are no caps, it is the next wider tolerance that has one.
        """
        percent_asked = int(100 * float(self.tolerance.share.max()) + 1e-9)
        nothing = np.zeros_like(self.exact)
        if self._at(percent_asked)._holds(nothing):
            return plan_of_rates(nothing)

        candidates = _RatePlans(self)
        widest = percent_asked if self._is_capped else 99
        for percent in range(percent_asked, widest + 1):
            best = candidates.find_cheapest(percent)
            if best is None:
                continue
            cheapest = plan_of_rates(best)
            if percent == percent_asked:
                return cheapest
            note = f"No plan within {percent_asked}% was found; this one is within {percent}%."
            return replace(cheapest, note=note)

        if self._is_capped:
            return INFEASIBLE
        if self.caps.budget:
            return None
        note = "No plan by rates was found, within this tolerance or a wider one."
        return PlannedImages(nothing, proven=False, note=note)

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
            below = after - (after * scale).max(axis=1, keepdims=True) / scale
            below[sizes == sizes.min()] = 0
            rest = before - weights @ (self.cliques.counts - below)

            # Where something of a class is left and nothing of another, there is no ratio.
            if (rest < 1).any() and (rest > -1).any():
                break
            scale = class_scale(np.abs(rest))
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
        low = self._largest_in_programme(len(scale))
        programme = self._strict(scale, margin)
        tolerance, before = programme.tolerance, self.cliques.class_sizes
        images = raise_to_tolerance(programme, np.zeros_like(self.exact), low)
        after = programme.counts_after(images)
        room = self._room(programme, images, low)
        rows = self._rows_of_rates(room, after, low)

        part_cliques = replace(
            self.cliques.take(rows), counts=after[rows], class_sizes=before + images.sum(axis=0)
        )
        weights = np.where(self.cliques.sizes() <= low, tolerance.weights, 0)
        narrow = replace(tolerance, slack=tolerance.slack * LINEAR, weights=weights).take(rows)
        caps = replace(self.caps, budget=None)
        part = Programme(part_cliques, narrow, caps, scale, most=room[rows])
        answer = part.solve(whole=False, seconds=np.inf, gap=0)
        if answer.images is None:
            return None

        fractions = images.astype(np.float64)
        fractions[rows] += answer.images
        images = round_near(programme, fractions, np.rint(before + fractions.sum(axis=0)))
        for _ in range(REPAIRS):
            actual_scale = class_scale(before + images.sum(axis=0))
            images = raise_to_tolerance(self._programme(actual_scale), images)
        return images

    def _largest_in_programme(self, n_classes: int) -> int:
        """The largest size of which all cliques go into a programme of rates."""
        sizes = self.cliques.sizes()
        distinct = sorted(set(sizes.tolist()))
        largest: int = distinct[0]
        for size in distinct[:-1]:
            if (sizes <= size).sum() * n_classes <= MOST_RATES:
                largest = size
        return largest

    def _room(self, programme: Programme, images: IntArray, low: int) -> FloatArray:
        """How many more images of each query the tolerance of larger cliques and the cap allow."""
        tolerance, scale = programme.tolerance, programme.scale
        after = programme.counts_after(images)
        highest = (after * scale + tolerance.slack).min(axis=1) / (1 - tolerance.share)
        room: FloatArray = np.floor(np.maximum(highest[:, None] / scale - after, 0) + ROUNDING)
        room[(self.cliques.sizes() <= low) | (tolerance.weights == 0)] = np.inf
        if self.caps.query is not None:
            room = np.minimum(room, np.maximum(self.caps.query - images, 0))
        return room

    def _rows_of_rates(self, room: FloatArray, after: IntArray, low: int) -> IntArray:
        """Rows of the small cliques, and of the most frequent ones of the next size with room."""
        sizes, n_classes = self.cliques.sizes(), after.shape[1]
        next_size = sizes[sizes > low].min(initial=sizes.max())
        roomy = np.flatnonzero((sizes == next_size) & (sizes > low) & room.any(axis=1))
        rows = np.flatnonzero(sizes <= low)
        most = max(MOST_RATES // n_classes - len(rows), 0)
        frequent = roomy[np.argsort(-after[roomy].sum(axis=1), kind="stable")[:most]]
        return np.append(rows, frequent)

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
        if self._is_exact:
            # Algorithm 1 is optimal then.
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

        # The relaxation is asked where the solver did not finish, or nothing else fits.
        fits = any(_fits(programme, images) for images in candidates)
        if status not in (OPTIMAL, INFEASIBLE) or not (self._is_small or fits):
            answer = programme.solve(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            if answer.images is not None:
                candidates.append(raise_to_tolerance(programme, round_down(answer.images)))

        fitting = [images for images in candidates if _fits(programme, images)]
        if not fitting:
            return INFEASIBLE if status == INFEASIBLE else None
        best = min(fitting, key=lambda images: int(images.sum()))
        # Images are whole, so that a bound with a fraction is rounded up.
        least = float(np.ceil(bound - ROUNDING))
        return bounded_plan(best, float(best.sum()), least, "images", finished=finished)

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
        nothing = np.zeros_like(self.exact)
        candidates = [nothing, apply_caps(self.exact, self.caps)]
        scale, sizes = None, self.cliques.class_sizes
        if full is not None:
            within_caps = apply_caps(full.images, self.caps)
            candidates.append(within_caps)
            sizes = sizes + within_caps.sum(axis=0)
        if self.rates:
            scale = class_scale(sizes)
        programme = self._programme(scale, budget=True)
        if not self.rates:
            candidates.append(apply_caps(raise_to_tolerance(programme, nothing), self.caps))

        bound, finished = 0.0, False
        solve = partial(programme.solve, seconds=self.seconds, gap=self.solver_gap, may_exceed=True)
        if self._is_small:
            answer = solve(whole=True)
            bound, finished = answer.bound, answer.status == OPTIMAL
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))

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
        """Choose the plan within the caps that leaves least; of equal ones, the cheapest."""

        def remainder(images: IntArray) -> float:
            return float((programme.excess(images) * programme.tolerance.weights).sum())

        allowed = [images for images in candidates if programme.allows(images)]
        # Rounded, so that sums of floats do not decide between plans that leave the same.
        best = min(allowed, key=lambda images: (round(remainder(images), 6), int(images.sum())))
        if self.rates:
            note = "Class sizes follow from the plan, so that less may be left."
            return PlannedImages(best, proven=False, note=note)
        cost = programme.image_cost * int(best.sum())
        what = "images of gaps beyond the tolerance"
        return bounded_plan(best, remainder(best), bound - cost, what, finished=finished)


class _RatePlans:
    """Plans for tolerances of whole percents, each made once and only if it may be the cheapest."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._scales = [search._at(0)._balanced_scale(margin) for margin in MARGINS]
        self._leasts: dict[int, int] = {}
        self._plans: dict[int, list[IntArray]] = {}

    def find_cheapest(self, percent: int) -> IntArray | None:
        """Find the plan of fewest images within a tolerance, of those for it and narrower ones."""
        best, most = None, np.inf
        for narrower in range(percent, -1, -1):
            least = self._least_images(narrower)
            # The narrower the tolerance, the more images the largest cliques take.
            if least >= most:
                break
            for plan in self._plans_for(narrower):
                if least <= plan.sum() < most and self._search._at(percent)._holds(plan):
                    best, most = plan, plan.sum()
        return best

    def _least_images(self, percent: int) -> int:
        """Images of the largest cliques, which no plan for a tolerance has fewer than."""
        if percent not in self._leasts:
            search = self._search
            programme = search._at(percent)._programme(self._scales[0])
            largest = int(search.cliques.sizes().max())
            images = raise_size(programme, np.zeros_like(search.exact), largest)
            self._leasts[percent] = int(images.sum())
        return self._leasts[percent]

    def _plans_for(self, percent: int) -> list[IntArray]:
        if percent not in self._plans:
            self._plans[percent] = self._search._at(percent)._whole_rates(self._scales)
        return self._plans[percent]


def _fits(programme: Programme, images: IntArray) -> bool:
    """Whether images bring every gap within the tolerance, and keep to the caps."""
    return not programme.excess(images).any() and programme.allows(images)
