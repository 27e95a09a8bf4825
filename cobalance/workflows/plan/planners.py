"""Plan the missing images of a dataset, and keep the plan in the graph."""

import logging
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
from cobalance.graph.dataset.cliques import read_cliques
from cobalance.graph.dataset.plans import write_plan
from cobalance.graph.dataset.state import DatasetState, check_name, dataset_state
from cobalance.graph.errors import DataError
from cobalance.graph.progress import Progress, silent
from cobalance.graph.run_log import log_run
from cobalance.workflows.panel.verdicts import is_supported, query_verdicts


@dataclass(frozen=True)
class Planned:
    """A plan, its dataset's counts, and audit verdicts.

    Parameters
    ----------
    state : DatasetState
        The dataset as it was planned for.
    audited : list of str or None
        What audits say of the imbalance of each query; see `cobalance.workflows.panel.verdicts`.
    """

    plan: Plan
    state: DatasetState
    cliques: Cliques
    audited: list[Verdict | None] | None

    @property
    def summary(self) -> pd.DataFrame:
        """Cliques, gaps before and after, and images, per size."""
        return summarize_plan(self.cliques, self.plan)


@log_run
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
    supported_only : bool
        Leave out queries for imbalances that no audit supports. Those of concepts that no model
        labelled stay.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined, or the planner has no such option.
    DataError
        Only supported imbalances are wanted and nothing is audited.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    if name is not None:
        check_name(name, "plan")
    progress("read cliques", 0, None)
    state = dataset_state(store, dataset)
    cliques = read_cliques(store, state, max_size=options.max_size)
    progress("plan", 0, None)
    made = plan(cliques, planner, options, planner_options)
    logging.getLogger(__name__).debug("planned queries: %d; %s", len(made.queries), made.note)
    audited = query_verdicts(store, dataset, cliques, made.queries)
    if supported_only:
        if audited is None:
            raise DataError(
                f"No accepted run of {dataset!r} is audited, so no imbalance is known to be "
                "supported. Audit one first, or plan for all imbalances."
            )
        kept = [at for at, said in enumerate(audited) if is_supported(said)]
        if len(kept) < len(made.queries):  # what is known is known of the whole plan
            made = replace(made, proven=None, bound=None, note="")
        made = replace(made, queries=tuple(made.queries[at] for at in kept))
        audited = [audited[at] for at in kept]
    kept_as = planner if name is None else name
    write_plan(store, dataset, kept_as, **made.write_arguments(), progress=progress)
    return Planned(made, state, cliques, audited)
