"""One module per planner; plans by the planners of the registry."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from cobalance.base import IntArray, check_known
from cobalance.counting import Cliques, Incidence
from cobalance.generation.planning.plan import (
    Plan,
    PlanOptions,
    plan_of_images,
    run_planner,
)
from cobalance.generation.planning.planners.registry import PLANNERS as PLANNERS

COUNTS, WHOLE_IMAGES = "conbias", "whole-images"


def choose_planner(images: Incidence | None, options: Collection[str] = ()) -> str:
    """The planner where none is named: whole-images where the images are at hand, else conbias.

    If that takes not all of these options, it is the first that does.

    Examples
    --------
    >>> choose_planner(None), choose_planner(None, ["tolerance"])
    ('conbias', 'minimal')
    """
    usual = COUNTS if images is None else WHOLE_IMAGES
    options_of = {name: {*PLANNERS[name].options.model_fields} for name in (usual, *PLANNERS)}
    shared = {option.name for option in fields(PlanOptions)}
    check_known("option of a plan", options, shared.union(*options_of.values()))

    # The usual one is first, so that another is taken only where it lacks an option.
    matches = (name for name, names in options_of.items() if names.issuperset(options))
    return next(matches, usual)


def plan(
    cliques: Cliques,
    planner: str = COUNTS,
    options: PlanOptions | None = None,
    planner_options: Mapping[str, Any] | None = None,
    *,
    chosen: IntArray | None = None,
    images: Incidence | None = None,
    ids: Sequence[str] = (),
) -> Plan:
    """Plan the images that rebalance the cliques, with a planner by name.

    Parameters
    ----------
    cliques : Cliques
        With their counts: the common ones for the paper's plan. Every class gets queries in all of
        them, even one that shares no image with one of their concepts.
    planner : str
        A name in `PLANNERS`.
    options : PlanOptions, optional
        Which sizes to balance; by default all from the planner's smallest to the largest mined.
    planner_options : mapping, optional
        The planner's own options, which its module declares.
    chosen : int array, optional
        Rows of the cliques to balance, ascending; all by default.
    images : Incidence, optional
        The real images, which whole-images needs.
    ids : sequence of str
        Theirs, for the queries' sources.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined, the planner has no such option, or it needs
        images and there are none.

    Examples
    --------
    >>> import numpy as np
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[5, 7], [5, 5], [1, 3]]),
    ...     np.array([9, 9]), ("cow", "road"), ("country", "urban"))
    >>> plan(cliques).queries
    (PlannedQuery(class_name='country', concepts=('cow', 'road'), n=2, edit=None, sources=()),)
    """
    values = dict(planner_options or {})
    limits = options or PlanOptions()
    # Whole images even out single concepts, too: each shows several.
    if limits.min_size is None and planner == WHOLE_IMAGES:
        limits = replace(limits, min_size=1)
    opened = PLANNERS.open(planner, values)
    planned = run_planner(cliques, opened, limits, chosen, images)
    return plan_of_images(planner, limits, values, cliques, planned, ids)
