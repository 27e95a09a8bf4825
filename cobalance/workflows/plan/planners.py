"""Plan the missing images of a dataset, and keep the plan in the graph."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from cobalance.annotation.auditing.imbalance import Verdict
from cobalance.generation.planning.plan import Plan, PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.simulation import summarize_plan
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.plans import write_plan
from cobalance.graph.dataset.state import check_name
from cobalance.graph.errors import OptionError
from cobalance.graph.progress import Progress, silent
from cobalance.workflows.panel.verdicts import is_supported, query_verdicts


@dataclass(frozen=True)
class Planned:
    """A plan with its effect on each clique size.

    Parameters
    ----------
    plan : Plan
        As kept in the graph.
    summary : pandas.DataFrame
        From `summarize_plan`: cliques, gaps before and after, and images, per size.
    cliques : Cliques
        The counts that it was made for.
    audited : list of str or None
        What audits say of the imbalance of each query; see `cobalance.workflows.panel.verdicts`.
    """

    plan: Plan
    summary: pd.DataFrame
    cliques: Cliques
    audited: list[Verdict | None] | None = None


def plan_dataset(
    store: GraphStore,
    dataset: str,
    planner: str,
    options: PlanOptions,
    name: str | None = None,
    progress: Progress = silent,
    planner_options: Mapping[str, Any] | None = None,
    *,
    supported_only: bool = False,
) -> Planned:
    """Plan the images that rebalance a mined dataset, and keep the plan in the graph.

    Parameters
    ----------
    planner : str
        A name in `cobalance.generation.planning.planners.PLANNERS`.
    name : str or None
        The plan's name in the dataset; the planner's by default.
    planner_options : mapping, optional
        The planner's own options.
    supported_only : bool
        Leave out queries for imbalances that no audit supports. Those of concepts that no model
        labelled stay.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined, the planner has no such option, or only
        supported imbalances are wanted and nothing is audited.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    if name is not None:
        check_name(name, "plan")
    progress("read cliques", 0, None)
    cliques = load_cliques(store, dataset, max_size=options.max_size)
    progress("plan", 0, None)
    made = plan(cliques, planner, options, planner_options)
    audited = query_verdicts(store, dataset, cliques, made.queries)
    if supported_only:
        if audited is None:
            raise OptionError(
                f"No accepted run of {dataset!r} is audited, so no imbalance is known to be "
                "supported. Audit one first, or plan for all imbalances."
            )
        kept = [at for at, said in enumerate(audited) if is_supported(said)]
        if len(kept) < len(made.queries):  # what is known is known of the whole plan
            made = replace(made, proven=None, bound=None, note="")
        made = replace(made, queries=tuple(made.queries[at] for at in kept))
        audited = [audited[at] for at in kept]
    keep_plan(store, dataset, planner if name is None else name, made, cliques, progress)
    return Planned(made, summarize_plan(cliques, made), cliques, audited)


def keep_plan(
    store: GraphStore,
    dataset: str,
    name: str,
    plan: Plan,
    cliques: Cliques,
    progress: Progress = silent,
) -> None:
    """Write a plan to the graph under a name, in place of an earlier one.

    Parameters
    ----------
    cliques : Cliques
        Those that it was made for.
    """
    min_size, max_size = plan.options.resolve(cliques)
    write_plan(
        store,
        dataset,
        name,
        plan.rows(),
        planner=plan.planner,
        min_size=min_size,
        max_size=max_size,
        max_per_query=plan.options.max_per_query,
        budget=plan.options.budget,
        largest_first=plan.options.largest_first,
        planner_options=plan.planner_options,
        progress=progress,
    )
