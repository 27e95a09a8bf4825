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
    round_down,
    round_near,
)
from generation.planning.programmes.tolerance import Caps, Tolerance
from generation.planning.programmes.verdicts import class_scale, impossible, judged, settled
from graph.arrays import FloatArray, IntArray
from graph.counting.cliques import Cliques

MOST_WHOLE = 20_000  # unknowns: of larger programmes, the largest cliques are rounded first
NEARLY = 1e-3  # how near to the best the small cliques of a large programme are
MOST_RATES = 6_500  # unknowns, for rates: above, cliques are only filled up from nothing
MOST_STEPS = 6  # of class sizes, for rates
GROWTH = (1.02, 1.2)  # of class sizes, where whole images do not fit, in early and late steps
SPARE, RUNAWAY = 2, 1000  # how many images may follow from whole ones: sizes may drift apart


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
        """The best plan for this tolerance or a narrower one, so that a wider one never costs more.

        Tolerances are whole percents, rounded down. Narrower ones are tried until even fractions
        take as many images as the best plan. Where none has a plan, and there are no caps, it is
        the next wider one that has.
        """
        asked = int(100 * float(self.tolerance.share.max()) + 1e-9)
        nothing = np.zeros_like(self.exact)
        filled = [self._at(percent)._settled(nothing) for percent in range(asked + 1)]
        best = min((one for one in filled if one is not None), key=np.sum, default=None)
        is_small, known = self.cliques.counts.size <= MOST_RATES, True
        for percent in range(asked if is_small else -1, -1, -1):
            bound, found = self._rates_within(percent, best)
            known = known and bound == np.inf
            if bound >= (np.inf if best is None else best.sum()):
                break
            best = best if found is None else found
        if best is not None:
            return settled(best)
        if self._is_capped:
            return INFEASIBLE if known and is_small else None
        for percent in range(asked + 1, 100 * is_small):
            _, found = self._rates_within(percent, None)
            if found is not None:
                note = f"No plan within {asked}% was found; this one is within {percent}%."
                return PlannedImages(found, proven=False, note=note)
        return None

    def _rates_within(self, percent: int, best: IntArray | None) -> tuple[float, IntArray | None]:
        """The fewest images in fractions, and a whole plan with fewer than the best, if found.

        Class sizes afterwards have the ratio that exact balance takes, which makes the programme
        linear. Of small classes whole images add up to more than fractions, so that sizes follow
        what rounding takes; half of the nearest image is left to it.
        """
        one = self._at(percent)
        before = self.cliques.class_sizes
        scale = class_scale(one._programme(self._ones()).balanced_sizes())
        answer = one._in_proportion(scale, 0).fewest(whole=False, seconds=np.inf, gap=0)
        if answer.images is None:
            return np.inf, None
        bound, most = answer.images.sum(), np.inf if best is None else best.sum()
        if bound >= most:
            return bound, None
        sizes, best = np.ceil(before + answer.images.sum(axis=0) - 1e-6), None
        for step in range(MOST_STEPS):
            programme = one._in_proportion(class_scale(sizes), sizes[0])
            answer = programme.fewest(whole=False, seconds=np.inf, gap=0)
            more = np.zeros(len(sizes))
            if answer.images is not None:
                whole = round_near(programme, answer.images, sizes)
                found = one._settled(whole)
                if found is not None and bound <= found.sum() < most:
                    best, most = found, found.sum()
                if found is whole or sizes.sum() - before.sum() >= most:
                    break
                more = np.maximum(before + whole.sum(axis=0) - sizes, 0)
            sizes = sizes + more if more.any() else np.ceil(sizes * GROWTH[step > MOST_STEPS // 2])
        return bound, best

    def _at(self, percent: int) -> "Search":
        share = np.full(len(self.cliques), percent / 100)
        return replace(self, tolerance=replace(self.tolerance, share=share))

    def _in_proportion(self, scale: FloatArray, first: float) -> Programme:
        half = replace(self.tolerance, slack=np.tile(scale / 2, (len(self.cliques), 1)))
        caps = replace(self.caps, budget=None)
        return Programme(self.cliques, half, caps, scale, first_size=first)

    def _settled(self, images: IntArray) -> IntArray | None:
        """Raise images until gaps are within the tolerance for sizes that follow; None if not."""
        most = SPARE * int(images.sum()) + RUNAWAY
        while images.sum() <= most:
            programme = self._programme(class_scale(self.cliques.class_sizes + images.sum(axis=0)))
            filled = fill(programme, images)
            if (filled == images).all():
                return images if self._fits(programme, images) else None
            images = filled
        return None

    def _fewest(self) -> PlannedImages | int | None:
        """The fewest images; where none within the tolerance is found None, or INFEASIBLE."""
        if self._is_exact:  # as Algorithm 1 is optimal then
            return PlannedImages(self.exact, proven=True, bound=float(self.exact.sum()))
        programme, status, finished = self._programme(self._ones()), OPTIMAL, False
        bound = float(programme.least_images().sum())
        candidates = [fill(programme, np.zeros_like(self.exact)), self.exact]
        if self._is_small:
            answer = programme.fewest(whole=True, seconds=self.seconds, gap=self.solver_gap)
            bound, status = max(bound, answer.bound), answer.status
            finished = status == OPTIMAL
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
        return judged(
            best, float(best.sum()), float(np.ceil(bound - 1e-6)), "images", finished=finished
        )

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
        finished = status == OPTIMAL
        if not finished:
            answer = programme.least_excess(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound = max(bound, answer.bound)
            if answer.images is not None:
                down = round_down(answer.images)
                candidates += [down, add_within(programme, down, answer.images)]
        return self._least(programme, candidates, bound, finished)

    def _least(
        self, programme: Programme, candidates: Sequence[IntArray], bound: float, finished: bool
    ) -> PlannedImages:
        def remainder(images: IntArray) -> float:
            beyond = programme.tolerance.excess(programme.after(images) * programme.scale)
            return float((beyond * programme.tolerance.weights).sum())

        counts = self.cliques.counts
        fit = [one for one in candidates if programme.caps.allow(counts, programme.after(one), one)]
        best = min(fit, key=lambda one: (round(remainder(one), 6), int(one.sum())))
        cost = programme.image_cost * int(best.sum())
        what = "images of gaps beyond the tolerance"
        found = judged(best, remainder(best), bound - cost, what, finished=finished)
        if not self.rates:
            return found
        note = "Class sizes follow from the plan, so that less may be left."
        return PlannedImages(best, proven=False, note=note)
