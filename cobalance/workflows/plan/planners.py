"""Plan the missing images of a dataset, and keep the plan in the graph."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from cobalance.annotation import Verdict
from cobalance.base import (
    DataError,
    IntArray,
    OptionError,
    PlannedQuery,
    Progress,
    Setting,
    check_known,
    log_run,
    silent,
)
from cobalance.counting import Cliques, Incidence
from cobalance.generation import (
    Plan,
    PlanOptions,
    PlanSizes,
    choose_planner,
    measure_all,
    plan_usual,
    sets_of,
    simulate,
    summarize_plan,
)
from cobalance.graph import (
    DatasetState,
    GraphStore,
    check_name,
    dataset_state,
    load_named_images,
    read_cliques,
    read_job,
    read_query_progress,
    require_size,
    write_plan,
)
from cobalance.statistics import find_rows
from cobalance.workflows.panel import is_supported, query_verdicts


@dataclass(frozen=True)
class Planned:
    """A plan, its dataset's counts, and audit verdicts.

    Parameters
    ----------
    state : DatasetState
        The dataset as it was planned for.
    chosen : int array
        Rows of the cliques that the plan is for.
    audited : list of str or None
        What audits say of the imbalance of each query; see `cobalance.workflows.panel.verdicts`.
    images : Incidence or None
        The real images, or a sample of them, where they are at hand.
    sizes : PlanSizes or None
        What the plan was chosen from, where no budget was given.
    """

    plan: Plan
    state: DatasetState
    cliques: Cliques
    chosen: IntArray
    audited: list[Verdict | None] | None = None
    images: Incidence | None = field(default=None, repr=False)
    sizes: PlanSizes | None = field(default=None, repr=False)

    @property
    def summary(self) -> pd.DataFrame:
        """Cliques, gaps before and after, and images, per size."""
        return summarize_plan(self.cliques, self.plan)

    @cached_property
    def after(self) -> Cliques:
        """The exact counts once all images are made."""
        return simulate(self.cliques, self.plan.queries)

    @cached_property
    def measures(self) -> dict[str, int | float]:
        """Measures of the plan by `cobalance.generation.planning.effects.measure_all`."""
        sets = sets_of(self.cliques, self.plan.queries)
        return measure_all(self.cliques, self.after, sets, self.chosen, self.images)

    def in_own_classes(self) -> Plan:
        """The plan as the graph keeps it, in the classes that the dataset itself has."""
        queries = tuple(_of_own_class(query, self.state) for query in self.plan.queries)
        return replace(self.plan, queries=queries)


@log_run
def plan_dataset(
    store: GraphStore,
    dataset: str,
    planner: str | None,
    options: PlanOptions,
    name: str | None = None,
    progress: Progress = silent,
    planner_options: Mapping[str, Any] | None = None,
    *,
    chosen: Sequence[Sequence[str]] = (),
    continued: Sequence[str] = (),
    supported_only: bool = False,
) -> Planned:
    """Plan the images that rebalance a mined dataset, and keep the plan in the graph.

    Parameters
    ----------
    planner : str or None
        A name in `cobalance.generation.planning.planners.PLANNERS`; None for what
        `choose_planner` gives.
    name : str or None
        The plan's name in the dataset; the planner's by default.
    chosen : sequence of sequences of str
        The cliques to plan for, each by its concepts; none for all.
    continued : sequence of str
        Jobs of the dataset whose accepted images count beside the real ones. Without a budget, as
        many images are planned as the first was asked for and they all have not got.
    supported_only : bool
        Leave out queries for imbalances that no audit supports. Those of concepts that no model
        labelled stay.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined, the planner has no such option, or a chosen
        clique was not mined.
    NotFoundError
        There is no such job to continue.
    DataError
        A job to continue is of another dataset or lacks no image, or only supported imbalances are
        wanted and nothing is audited.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    if name is not None:
        check_name(name, "plan")
    progress("read cliques", 0, None)
    state = dataset_state(store, dataset)
    require_plannable(state)
    require_size(state, options.max_size)
    # All of them, as the test of each goes by how many there are.
    cliques = read_cliques(store, state)

    progress("read images", 0, None)
    images, ids = read_named(store, state)
    if planner is None:
        planner = choose_planner(images, planner_options or ())

    # Images that jobs have made already count as if they were real.
    if continued:
        accepted, missing = _read_accepted(store, dataset, continued)
        cliques = simulate(cliques, accepted)
        if not (budget := options.budget or missing):
            raise DataError("No image is missing. To plan more, give ", Setting("budget"), ".")
        options = replace(options, budget=budget)

    rows = choose_rows(cliques, chosen)
    new_plan, sizes = plan_usual(
        cliques,
        planner,
        options,
        planner_options or {},
        chosen=rows,
        images=images,
        ids=ids,
        made=lambda n_made: progress("plan", n_made, None),
    )
    log = logging.getLogger(__name__)
    log.debug("planned queries: %d; %s", len(new_plan.queries), new_plan.note)

    audited = None
    if not state.compared:
        audited = query_verdicts(store, dataset, cliques, new_plan.queries)
    if supported_only:
        new_plan, audited = _take_supported(dataset, new_plan, audited)

    of_sizes = np.intersect1d(rows, new_plan.options.rows(cliques))
    planned = Planned(new_plan, state, cliques, of_sizes, audited, images, sizes)
    arguments = planned.in_own_classes().write_arguments()
    write_plan(store, dataset, name or planner, **arguments, progress=progress)
    return planned


def require_plannable(state: DatasetState) -> None:
    """Raise DataError where a dataset that has classes is compared by concepts."""
    if len(state.own_classes) > 1:
        state.require_own_classes("A plan of a dataset that has classes")


def read_named(store: GraphStore, state: DatasetState) -> tuple[Incidence | None, Sequence[str]]:
    """Read the mined images, or a sample, with their ids; None where they are not at hand.

    Images have the dataset's own classes, not those that it is compared by.
    """
    named = None
    if not state.compared:
        named = load_named_images(store, state.name, state.mining_options().split)
    return named or (None, ())


def _take_supported(
    dataset: str, new_plan: Plan, verdicts: Sequence[Verdict | None] | None
) -> tuple[Plan, list[Verdict | None]]:
    """The plan without queries for imbalances that no audit supports, and the others' verdicts."""
    if verdicts is None:
        raise DataError(
            f"No accepted run of {dataset!r} is audited, so no imbalance is known to be "
            "supported. Audit one first, or plan for all imbalances."
        )

    supported = [row for row, verdict in enumerate(verdicts) if is_supported(verdict)]
    # The proof and the bound are of the whole plan.
    if len(supported) < len(new_plan.queries):
        new_plan = replace(new_plan, proven=None, bound=None, note="")

    queries = tuple(new_plan.queries[row] for row in supported)
    return replace(new_plan, queries=queries), [verdicts[row] for row in supported]


def _of_own_class(query: PlannedQuery, state: DatasetState) -> PlannedQuery:
    """The query as images of a dataset without classes: with the concept it is compared by, or not.

    A query asks for its concepts and no others, so that the one without needs no word for that.
    """
    if not state.compared:
        return query
    (own_class, _), compared = state.own_classes[0], state.compared[0]
    concepts = list(query.concepts)
    if query.class_name == compared:
        concepts.append(compared)
    return query._replace(class_name=own_class, concepts=tuple(sorted(concepts)))


def _read_accepted(
    store: GraphStore, dataset: str, jobs: Sequence[str]
) -> tuple[list[PlannedQuery], int]:
    """Read the accepted images of jobs as queries, and how many the first asked for beyond them."""
    accepted, missing = [], 0
    for job in dict.fromkeys(jobs):
        if (job_dataset := read_job(store, job).dataset) != dataset:
            raise DataError(
                f"The job {job!r} is of the dataset {job_dataset!r}, not of {dataset!r}."
            )
        for query in read_query_progress(store, job):
            # Later jobs continue the first one, so that only its number is asked for.
            if job == jobs[0]:
                missing += query.n
            missing -= query.accepted
            if query.accepted and query.edit is None:
                accepted.append(PlannedQuery(query.class_name, query.concepts, query.accepted))
    return accepted, max(0, missing)


def choose_rows(cliques: Cliques, chosen: Sequence[Sequence[str]]) -> IntArray:
    """Rows of the chosen cliques, ascending, or of all where none is named.

    Raises
    ------
    OptionError
        A clique was not mined.
    """
    if not chosen:
        return np.arange(len(cliques))
    names = [tuple(sorted(clique)) for clique in chosen]
    check_known("mined concept", chain(*names), cliques.concepts)

    rows = find_rows(cliques, names)
    for clique, row in zip(names, rows.tolist(), strict=True):
        if row < 0:
            raise OptionError(
                f"Mining found no clique {' + '.join(clique)!r} to plan for: no image shows it, or "
                "larger ones were not mined. Choose another."
            )
    return np.unique(rows)
