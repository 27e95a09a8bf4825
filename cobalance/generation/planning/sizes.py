"""Sizes of a plan to choose from: a start, half of the largest lean, and nothing that leans."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import IntArray
from cobalance.counting import Cliques, Incidence
from cobalance.generation.planning.effects import measure
from cobalance.generation.planning.plan import START_SHARE, Plan, PlanOptions
from cobalance.generation.planning.planners import WHOLE_IMAGES, plan
from cobalance.generation.planning.simulation import sets_of, simulate_images

A_START, HALVE_IT = "A start", "Halve it"
NOTHING_LEANS, AS_FAR = "Nothing leans", "As far as it goes"
BUDGETS = 8
"""Plans of a curve, from the fewest images to the most."""
SIZE_MEASURES = ("leaning", "difference", "largest")
"""Of `cobalance.generation.planning.effects.measure`, what a size leaves."""
# A plan that ends one lean in ten has done what people can see.
_ENDED_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class SizedPlan:
    """A plan within a budget, and its `cobalance.generation.planning.effects.measure`."""

    plan: Plan
    measures: Mapping[str, int | float]

    @property
    def images(self) -> int:
        """Images to make: at most the budget."""
        return self.plan.images

    @property
    def halves(self) -> bool:
        """Whether the largest rate difference falls to a half or less."""
        return self.measures["largest"] <= self.measures["largest_before"] / 2

    @property
    def is_enough(self) -> bool:
        """Whether the largest difference is halved, or one lean in ten ends."""
        before = self.measures["leaning_before"]
        return self.halves or before - self.measures["leaning"] >= _ENDED_SHARE * before


@dataclass(frozen=True, eq=False)
class PlanSizes:
    """Whole plans of one request within several budgets, each made once it is asked for.

    Parameters
    ----------
    make : callable
        Plans within a budget, the same again for the same budget.
    cliques : Cliques
        The counts before.
    chosen : int array
        Rows of the cliques that the plans are for.
    """

    make: Callable[[int], Plan] = field(repr=False)
    cliques: Cliques = field(repr=False)
    chosen: IntArray = field(repr=False)
    _made: dict[int, SizedPlan] = field(default_factory=dict, repr=False)

    def within(self, budget: int) -> SizedPlan:
        """The plan within a budget."""
        if budget not in self._made:
            new_plan = self.make(budget)
            sets = sets_of(self.cliques, new_plan.queries)
            after = simulate_images(self.cliques, sets)
            rows = np.intersect1d(self.chosen, new_plan.options.rows(self.cliques))

            self._made[budget] = SizedPlan(new_plan, measure(self.cliques, after, sets, rows))
        return self._made[budget]

    @property
    def start(self) -> SizedPlan:
        """The plan of a tenth of the dataset's images."""
        return self.within(max(round(START_SHARE * self._n_images), 1))

    @property
    def end(self) -> SizedPlan:
        """The plan after which nothing leans, or as far as the evidence and as many images go."""
        if not self.start.measures["leaning"]:
            return self.start
        return self.within(self._n_images)

    @property
    def _n_images(self) -> int:
        return int(self.cliques.class_sizes.sum())

    @cached_property
    def budgets(self) -> Sequence[int]:
        """At most `BUDGETS` budgets, ascending, in equal steps from the start to the end.

        Where the start is the end, they begin with the first step.
        """
        end = self.end.images
        first = self.start.images if self.start.images < end else end / BUDGETS
        steps = np.linspace(first, end, BUDGETS)[:-1]
        budgets = {max(round(step), 1) for step in steps if step < end}
        return [*sorted(budgets), self.end.plan.options.budget or self._n_images]

    @cached_property
    def halving(self) -> SizedPlan | None:
        """The smallest of these plans that halves the largest difference; None where none does.

        Found by halving the steps: a larger plan leaves smaller differences.
        """
        if not self.end.halves:
            return None
        place = bisect_left(self.budgets, True, key=lambda budget: self.within(budget).halves)
        return self.within(self.budgets[place])

    def cards(self) -> dict[str, SizedPlan]:
        """The plans to choose from by their names, ascending; of equal ones the last."""
        far = AS_FAR if self.end.measures["leaning"] else NOTHING_LEANS
        named = {A_START: self.start, HALVE_IT: self.halving, far: self.end}
        by_images = {sized.images: name for name, sized in named.items() if sized is not None}
        return {
            name: sized for name, sized in named.items() if sized and name in by_images.values()
        }

    @cached_property
    def usual(self) -> SizedPlan:
        """The first to choose that halves the largest difference or ends one lean in ten.

        Where none does, the start: more images do nothing that is seen.
        """
        # The others are made only where the start is not enough.
        if self.start.is_enough:
            return self.start
        return next((sized for sized in self.cards().values() if sized.is_enough), self.start)

    def curve(self) -> pd.DataFrame:
        """The remaining lean by images to make, a row a plan.

        Returns
        -------
        pandas.DataFrame
            ``images``, ascending from 0, ``leaning``, ``difference`` and ``largest``, as
            `cobalance.generation.planning.effects.measure` has them.
        """
        before = [self.start.measures[f"{name}_before"] for name in SIZE_MEASURES]
        points = [(0, *before)]
        for budget in self.budgets:
            sized = self.within(budget)
            points.append((sized.images, *(sized.measures[name] for name in SIZE_MEASURES)))
        curve = pd.DataFrame(points, columns=["images", *SIZE_MEASURES])
        return curve.drop_duplicates("images", ignore_index=True)


def plan_usual(
    cliques: Cliques,
    planner: str,
    options: PlanOptions,
    planner_options: Mapping[str, Any],
    *,
    chosen: IntArray,
    images: Incidence | None,
    ids: Sequence[str],
    made: Callable[[int], None] = lambda _: None,
) -> tuple[Plan, PlanSizes | None]:
    """Plan by a planner; whole images without a budget are of the usual size.

    Parameters
    ----------
    made : callable
        Told how many plans have been made.

    Returns
    -------
    Plan
    PlanSizes or None
        What the plan was chosen from; None where it is the only one.
    """
    numbers = count()

    def make(budget: int | None) -> Plan:
        made(next(numbers))
        limits = replace(options, budget=budget)
        return plan(
            cliques, planner, limits, planner_options, chosen=chosen, images=images, ids=ids
        )

    if planner != WHOLE_IMAGES or options.budget is not None:
        return make(options.budget), None
    sizes = PlanSizes(make, cliques, chosen)
    return sizes.usual.plan, sizes
