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
class Outcome:
    """The result of a search without a budget.

    Parameters
    ----------
    plan : PlannedImages or None
        None where no plan within the tolerance was found.
    is_infeasible : bool
        Whether the caps are known to leave no plan within the tolerance.
    """

    plan: PlannedImages | None
    is_infeasible: bool = False


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
        outcome = self._plan_rates() if self.rates else self._plan_fewest()
        plan, budget = outcome.plan, self.caps.budget
        if budget is None and outcome.is_infeasible:
            raise impossible(self.caps)
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

    def _programme_of_counts(self) -> Programme:
        """The programme that compares counts, without the budget."""
        scale = np.ones(len(self.cliques.classes))
        return Programme(self.cliques, self.tolerance, replace(self.caps, budget=None), scale)

    def programme_of_rates(self, scale: FloatArray) -> Programme:
        """The programme that compares counts times the scale of their class, without the budget."""
        # Rates cannot be told apart by less than an image.
        one_image = np.broadcast_to(scale, self.cliques.counts.shape)
        tolerance = replace(self.tolerance, slack=one_image)
        return Programme(self.cliques, tolerance, replace(self.caps, budget=None), scale)

    def _plan_rates(self) -> Outcome:
        """The cheapest plan within this tolerance of those for it and for narrower ones.

        Tolerances are whole percents, rounded down. What is planned for a wider one is thus never
        dearer. Narrower ones are left out once the images of the largest cliques, which no plan for
        them may have fewer than, are as many as those of the best plan.
        Where none is found, and there are no caps, it is the next wider tolerance that has one.
        """
        percent_asked = int(100 * float(self.tolerance.share.max()) + 1e-9)
        nothing = np.zeros_like(self.exact)
        if self.with_tolerance(percent_asked).is_within_tolerance(nothing):
            return Outcome(plan_of_rates(nothing))

        candidates = _RatePlans(self)
        widest = percent_asked if self._is_capped else 99
        for percent in range(percent_asked, widest + 1):
            best = candidates.find_cheapest(percent)
            if best is None:
                continue
            cheapest = plan_of_rates(best)
            if percent == percent_asked:
                return Outcome(cheapest)
            note = f"No plan within {percent_asked}% was found; this one is within {percent}%."
            return Outcome(replace(cheapest, note=note))

        if self._is_capped or self.caps.budget:
            return Outcome(None, is_infeasible=self._is_capped)
        note = "No plan by rates was found, within this tolerance or a wider one."
        return Outcome(PlannedImages(nothing, proven=False, note=note))

    def balance_scale(self, margin: float) -> FloatArray:
        """The scale of class sizes at which all rates can be equal, to the nearest image.

        A class's size less a weighted sum of its counts stays as it is, whatever images are made.
        Where rates are equal, it is the same share of every class, but for what whole images of
        large cliques are below that.
        """
        sizes, before = self.cliques.sizes(), self.cliques.class_sizes
        scale = class_scale(before)
        programme = self._programme_with_margin(scale, margin)
        weights = programme.euler_weights()

        for _ in range(RATIO_STEPS):
            filled = raise_to_tolerance(programme, np.zeros_like(self.exact), int(sizes.min()))
            after = programme.counts_after(filled)
            below = after - (after * scale).max(axis=1, keepdims=True) / scale
            below[sizes == sizes.min()] = 0
            rest = before - weights @ (self.cliques.counts - below)

            # At equal rates classes are in the ratio of these rests. It is one only where all rests
            # have the same sign, and none is a mere fraction of an image.
            if not ((rest >= 1).all() or (rest <= -1).all()):
                break
            scale = class_scale(np.abs(rest))
            programme = self._programme_with_margin(scale, margin)
        return scale

    def plan_whole_rates(self, scales: list[FloatArray]) -> list[IntArray]:
        """Plans with wider and wider margins, up to one that is within the tolerance."""
        plans: list[IntArray] = []
        for scale, margin in zip(scales, MARGINS, strict=True):
            plan = self._near_tolerance(scale, margin)
            if plan is not None:
                plans.append(plan)
                if self.is_within_tolerance(plan):
                    break
        return plans

    def _near_tolerance(self, scale: FloatArray, margin: float) -> IntArray | None:
        """Whole images of few in all, with rates about within the tolerance.

        The largest cliques get what they lack. How many more images of them, within their
        tolerance, and of the others are best, a linear programme tells.
        """
        low = self._largest_in_programme(len(scale))
        programme = self._programme_with_margin(scale, margin)
        tolerance, before = programme.tolerance, self.cliques.class_sizes
        images = raise_to_tolerance(programme, np.zeros_like(self.exact), low)
        after = programme.counts_after(images)
        room = self._room_within_tolerance(programme, images, low)
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
            images = raise_to_tolerance(self.programme_of_rates(actual_scale), images)
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

    def _room_within_tolerance(
        self, programme: Programme, images: IntArray, low: int
    ) -> FloatArray:
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
        sizes = self.cliques.sizes()
        next_size = sizes[sizes > low].min(initial=sizes.max())
        roomy = np.flatnonzero((sizes == next_size) & (sizes > low) & room.any(axis=1))
        rows = np.flatnonzero(sizes <= low)
        return np.append(rows, _most_frequent(roomy, after, MOST_RATES - after[rows].size))

    def _programme_with_margin(self, scale: FloatArray, margin: float) -> Programme:
        programme = self.programme_of_rates(scale)
        programme.tolerance = replace(programme.tolerance, slack=margin * programme.tolerance.slack)
        return programme

    def with_tolerance(self, percent: int) -> "Search":
        """The search with another tolerance, of all cliques."""
        share = np.full(len(self.cliques), percent / 100)
        return replace(self, tolerance=replace(self.tolerance, share=share))

    def is_within_tolerance(self, images: IntArray) -> bool:
        """Whether rates are within the tolerance, to the nearest image."""
        sizes = self.cliques.class_sizes + images.sum(axis=0)
        return _fits(self.programme_of_rates(class_scale(sizes)), images)

    def _plan_fewest(self) -> Outcome:
        """The plan of fewest images within the tolerance."""
        if self._is_exact:
            # Algorithm 1 is optimal then.
            bound = float(self.exact.sum())
            return Outcome(PlannedImages(self.exact, proven=True, bound=bound))

        programme = self._programme_of_counts()
        status = OPTIMAL
        finished = False
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
            return Outcome(None, is_infeasible=status == INFEASIBLE)
        best = min(fitting, key=lambda images: int(images.sum()))
        # Images are whole, so that a bound with a fraction is rounded up.
        least = float(np.ceil(bound - ROUNDING))
        plan = bounded_plan(best, float(best.sum()), least, "images", finished=finished)
        return Outcome(plan)

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
        frequent = _most_frequent(roomy, after, MOST_WHOLE - after[smaller].size)
        if len(frequent):
            both = np.append(smaller, frequent)
            answer = self._search_rest(both, after)._solve(whole=False)
            if answer.images is not None:
                images[frequent] += round_down(answer.images[len(smaller) :])
                images = raise_size(programme, images, size)

        rest = self._search_rest(smaller, programme.counts_after(images))
        if not rest._is_small:
            images[smaller] = rest._by_size(rest._programme_of_counts())
            return images
        answer = rest._solve(whole=True)
        if answer.images is not None:
            images[smaller] = np.rint(answer.images)
        return images

    def _search_rest(self, rows: IntArray, after: IntArray) -> "Search":
        """The search for some cliques, once others have their images."""
        cliques = replace(self.cliques.take(rows), counts=after[rows])
        caps, exact = Caps(self.caps.query), self.exact[rows]
        return replace(
            self, cliques=cliques, tolerance=self.tolerance.take(rows), caps=caps, exact=exact
        )

    def _solve(self, *, whole: bool) -> Solution:
        gap = max(self.solver_gap, NEARLY)
        # The relaxation with large cliques and the programme of smaller ones share the time.
        seconds = self.seconds / 2
        return self._programme_of_counts().solve(whole=whole, seconds=seconds, gap=gap)

    @property
    def _is_small(self) -> bool:
        return self.cliques.counts.size <= MOST_WHOLE

    def _within_budget(self, full: PlannedImages | None) -> PlannedImages:
        """The least weighted sum of gaps beyond the tolerance."""
        nothing = np.zeros_like(self.exact)
        candidates = [nothing, apply_caps(self.exact, self.caps)]
        sizes = self.cliques.class_sizes
        if full is not None:
            within_caps = apply_caps(full.images, self.caps)
            candidates.append(within_caps)
            sizes = sizes + within_caps.sum(axis=0)

        if self.rates:
            programme = self.programme_of_rates(class_scale(sizes))
        else:
            programme = self._programme_of_counts()
            candidates.append(apply_caps(raise_to_tolerance(programme, nothing), self.caps))
        programme.caps = self.caps

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
        return self._choose_least(programme, candidates, bound, finished)

    def _choose_least(
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
        equal_rates = search.with_tolerance(0)
        self._scales = [equal_rates.balance_scale(margin) for margin in MARGINS]
        self._leasts: dict[int, int] = {}
        self._plans: dict[int, list[IntArray]] = {}

    def find_cheapest(self, percent: int) -> IntArray | None:
        """Find the plan of fewest images within a tolerance, of those for it and narrower ones."""
        search = self._search.with_tolerance(percent)
        best, most = None, np.inf
        for narrower in range(percent, -1, -1):
            least = self._least_images(narrower)
            # The narrower the tolerance, the more images the largest cliques take.
            if least >= most:
                break
            for plan in self._plans_for(narrower):
                if least <= plan.sum() < most and search.is_within_tolerance(plan):
                    best, most = plan, plan.sum()
        return best

    def _least_images(self, percent: int) -> int:
        """Images of the largest cliques, which no plan for a tolerance has fewer than."""
        if percent not in self._leasts:
            search = self._search.with_tolerance(percent)
            programme = search.programme_of_rates(self._scales[0])
            largest = int(search.cliques.sizes().max())
            images = raise_size(programme, np.zeros_like(search.exact), largest)
            self._leasts[percent] = int(images.sum())
        return self._leasts[percent]

    def _plans_for(self, percent: int) -> list[IntArray]:
        if percent not in self._plans:
            search = self._search.with_tolerance(percent)
            self._plans[percent] = search.plan_whole_rates(self._scales)
        return self._plans[percent]


def _fits(programme: Programme, images: IntArray) -> bool:
    """Whether images bring every gap within the tolerance, and keep to the caps."""
    return not programme.excess(images).any() and programme.allows(images)


def _most_frequent(rows: IntArray, counts: IntArray, n_unknowns: int) -> IntArray:
    """The rows of the largest counts, as many as so many unknowns allow."""
    n_rows = max(n_unknowns // counts.shape[1], 0)
    totals = counts[rows].sum(axis=1)
    return rows[np.argsort(-totals, kind="stable")[:n_rows]]
