"""Fewest images within a tolerance, or the least imbalance within a budget, by programming."""

from functools import partial
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from cobalance.base import Options, Plugin
from cobalance.counting import Cliques
from cobalance.generation.planning.plan import PlannedImages, Planner, PlanOptions
from cobalance.generation.planning.planners.conbias import plan_images as plan_exactly
from cobalance.generation.planning.programmes.search import Search
from cobalance.generation.planning.programmes.tolerance import Caps, Tolerance, insignificant_gaps
from cobalance.generation.planning.weights import weigh_cliques


class MinimalOptions(Options):
    """Options of the planner minimal.

    Without `tolerance`, `gap` and `significance` all gaps are closed. The first two add up.

    Parameters
    ----------
    tolerance : float
        The share of the largest count, as it is afterwards, that any other class may lack.
    gap : int
        The images that any class may lack.
    significance : float or None
        A gap may stay where a chi-square test does not find the counts of the classes to differ at
        this level, such as 0.05.
    rates : bool
        Compare shares of the classes, whose sizes grow by the images made, not counts. To the
        nearest image, as shares of classes of different sizes are rarely equal.
    weights : tuple of str
        What cliques count for, as ``cow + field=2``: with a budget, an image of their gaps counts
        as so many of others'. A clique of weight 0 may keep any gap. All others weigh 1.
    max_per_class : int or None
        Most images of each class.
    overshoot : int or None
        Most images of a clique that a class may have beyond the largest count of before.
    seconds : float
        How long the solver may take, for each programme of counts; what it finds when time is up
        is not called proven. Programmes of rates do not look at the clock.
    solver_gap : float
        How far from the fewest images a plan may be, as a share, for the solver to stop.
    """

    tolerance: float = Field(default=0.0, ge=0, lt=1)
    gap: int = Field(default=0, ge=0)
    significance: float | None = Field(default=None, gt=0, lt=1)
    rates: bool = False
    weights: tuple[str, ...] = ()
    max_per_class: int | None = Field(default=None, ge=1)
    overshoot: int | None = Field(default=None, ge=0)
    seconds: float = Field(default=20.0, gt=0, le=3600)
    solver_gap: float = Field(default=0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def _one_tolerance(self) -> Self:
        if self.significance is not None and (self.tolerance or self.gap):
            raise ValueError("give significance alone, without tolerance and gap")
        if self.rates and (self.gap or self.significance is not None):
            raise ValueError("rates go with tolerance alone, not with gap or significance")
        return self


PLUGIN = Plugin(
    "minimal",
    "The fewest images within a tolerance, or the least imbalance within a budget.",
    options=MinimalOptions,
)


def open_planner(options: MinimalOptions) -> Planner:
    """Open the planner."""
    return partial(plan_minimal, own=options)


def plan_minimal(cliques: Cliques, options: PlanOptions, own: MinimalOptions) -> PlannedImages:
    """Plan the fewest images that bring every gap within the tolerance.

    Where these are more than the budget, plan the images within the budget that leave the least
    weighted sum of gaps beyond the tolerance. An image of a query contains exactly its clique and
    counts in all subsets of it. Nothing but cliques of the chosen sizes is asked for or looked at.

    Parameters
    ----------
    options : PlanOptions
        Sizes, most images of a query, and budget.
    own : MinimalOptions
        The tolerance, further caps, and what the solver may take.

    Returns
    -------
    PlannedImages
        With the least that any plan needs: images, or of a budget gaps beyond the tolerance.

    Raises
    ------
    OptionError
        The caps leave no plan (by rates: none was found), the options ask for sizes that were not
        mined, or a weight is no weight.
    UnknownNameError
        A weight names a clique that is none of those given.

    Notes
    -----
    Without tolerance or caps, Algorithm 1 is optimal (see the planner ``conbias``),
    and no solver is asked. Up to 20,000 unknowns whole images are planned by branch and bound, or
    where time runs out by the linear relaxation: rounded down, then raised to the tolerance from
    the largest cliques down, which ends as images of a size count in no larger clique. Where there
    are more unknowns, the largest cliques get what they lack, and what a relaxation of those with
    room for more and of all smaller cliques adds to them; then smaller cliques are planned for. No
    result has more images than the raising from nothing, or than Algorithm 1.

    *Rates*: a rate has the size of its class in it, which the plan itself changes, so that
    cross-multiplied differences are products of unknowns. The ratio of sizes afterwards is fixed
    at that which equal rates take. The largest cliques get what they lack; a linear programme says
    which more of their images, and which of smaller cliques, are best; whole images near those are
    kept if their rates, recounted, are within the tolerance. The plan is the cheapest of those for
    the tolerance, in whole percents, and for all narrower ones: a wider tolerance never takes more.

    *Significance*: the gap that a clique may keep follows from its largest count before, and never
    shrinks as images are added. With more than two classes it is the one that is allowed however
    the others spread.
    """
    rows = options.rows(cliques)
    images = np.zeros(cliques.counts.shape, dtype=np.int64)
    weights = weigh_cliques(cliques, own.weights)[rows]
    if not weights.any() or len(cliques.classes) < 2:
        return PlannedImages(images, proven=True, bound=0.0)

    chosen = cliques.take(rows)
    slack = np.full(len(chosen), float(own.gap))
    if own.significance is not None:
        most = chosen.counts.max(axis=1).astype(np.float64)
        slack = insignificant_gaps(most, len(chosen.classes), own.significance)

    search = Search(
        chosen,
        Tolerance(share=np.full(len(chosen), own.tolerance), slack=slack, weights=weights),
        Caps(
            query=options.max_per_query,
            per_class=own.max_per_class,
            overshoot=own.overshoot,
            budget=options.budget,
        ),
        exact=plan_exactly(chosen, PlanOptions(1)),
        rates=own.rates,
        seconds=own.seconds,
        solver_gap=own.solver_gap,
    )

    planned = search.run()
    images[rows] = planned.images
    return PlannedImages(images, planned.proven, planned.bound, planned.note)
