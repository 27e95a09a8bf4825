"""Search for the best plan: programmes, rounding, and what is known of the result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from generation.planning.budget import share_budget
from generation.planning.plan import PlannedImages
from generation.planning.programmes.programme import INFEASIBLE, OPTIMAL, Answer, Programme
from generation.planning.programmes.rounding import add_within, fill, fill_size, round_down
from generation.planning.programmes.tolerance import Caps, Tolerance
from graph.arrays import FloatArray, IntArray
from graph.counting.cliques import Cliques
from graph.errors import OptionError, Setting

MOST_WHOLE = 20_000  # unknowns: of larger programmes, the largest cliques are rounded first
NEARLY = 1e-3  # how near to the best the small cliques of a large programme are
MOST_STEPS = 30  # of class sizes, for rates, by programmes
MOST_FILLS = 1000  # of class sizes, for rates, by filling up alone
MOST_IMAGES = 2**40


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

        Raises
        ------
        OptionError
            The caps leave no plan within the tolerance, and there is no budget.
        """
        found = self._rates() if self.rates else self._fewest()
        budget = self.caps.budget
        if budget is None and found is None:
            raise _impossible(self.caps)
        if found is not None and (budget is None or found.images.sum() <= budget):
            return found
        return self._within_budget(found)

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

    def _rates(self) -> PlannedImages | None:
        """Fix class sizes, plan, and fix those that follow, until they agree; then round up."""
        sizes = self.cliques.class_sizes
        made = np.zeros(len(sizes))
        images = np.zeros_like(self.exact)
        for _ in range(MOST_STEPS):
            programme = self._programme(_scale(sizes + made))
            answer = programme.fewest(whole=False, seconds=self.seconds, gap=self.solver_gap)
            if answer.status == INFEASIBLE:
                return None
            if answer.images is None:
                break
            images, before, made = round_down(answer.images), made, answer.images.sum(axis=0)
            if np.abs(made - before).max() < 1:
                break
        for _ in range(MOST_FILLS):
            programme = self._programme(_scale(sizes + images.sum(axis=0)))
            filled = fill(programme, images)
            if (filled == images).all() or filled.sum() > MOST_IMAGES:
                break
            images = filled
        if (filled != images).any():
            raise OptionError(
                f"The class sizes that rates refer to did not settle in {MOST_FILLS} steps. Allow "
                "a larger tolerance, or plan for counts."
            )
        if not programme.caps.allow(self.cliques.counts, programme.after(images), images):
            return None
        note = "Class sizes follow from the plan, so that fewer images may do."
        return PlannedImages(images, proven=not images.any(), note=note if images.any() else "")

    def _fewest(self) -> PlannedImages | None:
        """The fewest images; None where the caps allow none within the tolerance."""
        if self._is_exact:  # as Algorithm 1 is optimal then
            return PlannedImages(self.exact, proven=True, bound=float(self.exact.sum()))
        programme, bound, status = self._programme(self._ones()), 0.0, OPTIMAL
        candidates = [fill(programme, np.zeros_like(self.exact))]
        if self._is_small:
            answer = programme.fewest(whole=True, seconds=self.seconds, gap=self.solver_gap)
            bound, status = answer.bound, answer.status
            if answer.images is not None:
                candidates.append(np.rint(answer.images).astype(np.int64))
        if not self._is_small and self.caps == Caps(self.caps.query, budget=self.caps.budget):
            candidates.append(fill(programme, self._by_size(programme)))
            bound = float(programme.least_images().sum())
        elif status not in (OPTIMAL, INFEASIBLE) or not self._is_small:
            answer = programme.fewest(whole=False, seconds=self.seconds, gap=self.solver_gap)
            bound = max(bound, answer.bound)
            if answer.images is not None:
                candidates.append(fill(programme, round_down(answer.images)))
        candidates.append(self.exact)
        fit = [one for one in candidates if self._fits(programme, one)]
        if not fit:
            return None
        best = min(fit, key=lambda one: int(one.sum()))
        return _judged(best, float(best.sum()), float(np.ceil(bound - 1e-6)), "images")

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
        budget = self.caps.budget or 0
        shared = [] if full is None else [share_budget(full.images, budget)]
        scale = self._ones()
        if self.rates:
            scale = _scale(self.cliques.class_sizes + sum(one.sum(axis=0) for one in shared))
        programme = self._programme(scale, budget=True)
        candidates = [np.zeros_like(self.exact), share_budget(self.exact, budget), *shared]
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
        found = _judged(best, remainder(best), bound - cost, "images of gaps beyond the tolerance")
        if not self.rates:
            return found
        note = "Class sizes follow from the plan, so that less may be left."
        return PlannedImages(best, proven=False, note=note)


def _judged(images: IntArray, value: float, bound: float, what: str) -> PlannedImages:
    """A plan with the least that any plan has of something, and whether it has that itself."""
    bound = min(max(bound, 0.0), value) + 0.0  # no -0.0
    proven = value - bound <= 1e-6 * (1 + value)
    least = f"no plan has fewer than {bound:,.0f}" if bound else "how few it takes is unknown"
    said = f"Not proven to be the best: {value:,.0f} {what}; {least}."
    return PlannedImages(images, proven, bound, "" if proven else said)


def _scale(class_sizes: IntArray | FloatArray) -> FloatArray:
    sizes = np.maximum(class_sizes, 1).astype(np.float64)
    scale: FloatArray = sizes.mean() / sizes
    return scale


def _impossible(caps: Caps) -> OptionError:
    named = (
        (Setting("max_per_query"), caps.query),
        (Setting("planner.max_per_class"), caps.per_class),
        (Setting("planner.overshoot"), caps.overshoot),
    )
    parts: list[str | Setting] = ["No plan within the tolerance was found under the caps. Raise "]
    for setting in [setting for setting, cap in named if cap is not None]:
        parts += [setting, ", "]
    return OptionError(*parts, "allow a larger tolerance, or give a ", Setting("budget"), ".")
