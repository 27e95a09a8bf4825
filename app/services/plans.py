"""Plan the missing images of a dataset, and keep the plan in the graph."""

from dataclasses import dataclass

import pandas as pd

from generation.planners import plan
from generation.planning.plan import Plan, PlanOptions
from generation.planning.simulation import summarize_plan
from graph.database.store import GraphStore
from graph.dataset.cliques import load_cliques
from graph.dataset.plans import write_plan
from graph.progress import Progress, silent


@dataclass(frozen=True)
class Planned:
    """A plan with what it achieves.

    Parameters
    ----------
    plan : Plan
        As kept in the graph.
    summary : pandas.DataFrame
        From `summarize_plan`: cliques, gaps before and after, and images, per size.
    """

    plan: Plan
    summary: pd.DataFrame

    def queries(self) -> pd.DataFrame:
        """The generation queries: class, concepts, n."""
        return pd.DataFrame(
            [(query.class_name, query.concepts, query.n) for query in self.plan.queries],
            columns=["class", "concepts", "n"],
        )


def plan_dataset(
    store: GraphStore,
    dataset: str,
    planner: str,
    options: PlanOptions,
    name: str | None = None,
    progress: Progress = silent,
) -> Planned:
    """Plan the images that rebalance a mined dataset, and keep the plan in the graph.

    Parameters
    ----------
    planner : str
        A name in `generation.planners.PLANNERS`.
    name : str or None
        The plan's name in the dataset; the planner's by default.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    progress("read cliques", 0, None)
    cliques = load_cliques(store, dataset, max_size=options.max_size)
    progress("plan", 0, None)
    made = plan(cliques, planner, options)
    write_plan(
        store,
        dataset,
        name or planner,
        [(query.class_name, query.concepts, query.n) for query in made.queries],
        planner=planner,
        min_size=made.options.min_size,
        max_size=made.options.max_size or options.min_size,
        max_per_query=options.max_per_query,
        budget=options.budget,
        progress=progress,
    )
    return Planned(made, summarize_plan(cliques, made))
