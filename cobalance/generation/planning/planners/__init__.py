"""One module per planner, and the registry of them all."""

from collections.abc import Mapping
from typing import Any

from cobalance.generation.planning.plan import Plan, Planner, PlanOptions, make_plan
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
        The cliques to balance, with their counts; the common ones for the paper's plan.
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
    >>> plan(cliques).rows()
    [PlannedQuery(class_name='country', concepts=('cow', 'road'), n=2, edit=None)]
    """
    own = dict(planner_options or {})
    opened = PLANNERS.open(planner, own)
    return make_plan(cliques, opened, planner, options or PlanOptions(), own)
