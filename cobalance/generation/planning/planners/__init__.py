"""One module per planner, and the registry of them all."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cobalance.generation.planning.plan import Plan, Planner, PlanOptions, queries_of, run_planner
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.plugins import Plugins

PLANNERS: Plugins[Planner] = Plugins(
    "planner",
    {
        "conbias": "cobalance.generation.planning.planners.conbias",
        "minimal": "cobalance.generation.planning.planners.minimal",
        "published": "cobalance.generation.planning.planners.published",
    },
)


def plan(
    cliques: Cliques,
    planner: str = "conbias",
    options: PlanOptions | None = None,
    planner_options: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan the images that rebalance the cliques, with a planner by name.

    Parameters
    ----------
    cliques : Cliques
        The cliques to balance, with their counts: the common ones for the paper's plan, or some of
        them. Every class gets queries in all of them, even one that shares no image with one of
        their concepts.
    planner : str
        A name in `PLANNERS`.
    options : PlanOptions, optional
        Which sizes to balance; by default 2 to the largest mined.
    planner_options : mapping, optional
        The planner's own options, which its module declares.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined, or the planner has no such option.

    Examples
    --------
    >>> import numpy as np
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[5, 7], [5, 5], [1, 3]]),
    ...     np.array([9, 9]), ("cow", "road"), ("country", "urban"))
    >>> plan(cliques).queries
    (PlannedQuery(class_name='country', concepts=('cow', 'road'), n=2, edit=None),)
    """
    own, limits = dict(planner_options or {}), options or PlanOptions()
    opened = PLANNERS.open(planner, own)
    min_size, max_size = limits.resolve(cliques)
    found = run_planner(cliques, opened, limits)
    resolved = replace(limits, min_size=min_size, max_size=max_size)
    queries = queries_of(cliques, found.images)
    return Plan(planner, resolved, queries, own, found.proven, found.bound, found.note)
