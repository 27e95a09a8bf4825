"""One module per planner, and the registry of them all."""

from generation.planners import conbias, published
from generation.planning.plan import Plan, Planner, PlanOptions, make_plan
from graph.counting.cliques import Cliques
from graph.registry import Registry

PLANNERS: Registry[Planner] = Registry("planner")
PLANNERS.register("conbias", conbias.plan_images)
PLANNERS.register("published", published.plan_images)


def plan(cliques: Cliques, planner: str = "conbias", options: PlanOptions | None = None) -> Plan:
    """Plan the images that rebalance the cliques, with a planner by name.

    Parameters
    ----------
    cliques : Cliques
        The cliques to balance, with their counts; the common ones for the paper's plan.
    planner : str
        A name in `PLANNERS`.
    options : PlanOptions, optional
        Which sizes to balance; by default 2 to the largest mined.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined.

    Examples
    --------
    >>> import numpy as np
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[5, 7], [5, 5], [1, 3]]),
    ...     np.array([9, 9]), ("cow", "road"), ("country", "urban"))
    >>> plan(cliques).queries
    (GenerationQuery(class_name='country', concepts=('cow', 'road'), n=2),)
    """
    return make_plan(cliques, PLANNERS[planner], planner, options or PlanOptions())
