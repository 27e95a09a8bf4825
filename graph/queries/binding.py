"""Run a query of the catalogue: parameters bound, names checked, nothing stale."""

from collections.abc import Mapping
from typing import Any

from graph.database.declarations import DATASET, Node
from graph.database.query import Query
from graph.database.schema import PLAN
from graph.database.store import GraphStore
from graph.dataset.plans import planned_again
from graph.dataset.state import DatasetState, dataset_state
from graph.errors import StaleError, UnknownNameError
from graph.queries.catalogue import CATALOGUE


def bind_named(
    store: GraphStore, name: str, given: Mapping[str, Any]
) -> tuple[Query, dict[str, Any]]:
    """Make a query of the catalogue ready to run.

    A misspelt concept would count zero images, which looks like a finding; so names are looked up
    first.

    Raises
    ------
    UnknownNameError
        No such query, parameter, or class, concept or plan in the dataset.
    OptionError
        A parameter is missing or of the wrong type.
    DatasetNotFoundError
        No such dataset.
    StaleError
        An ingest did not end, the query reads cliques and those are not up to date, or it is
        about a plan that was made for other cliques than these.
    """
    query = CATALOGUE[name]
    bound = query.bind(given)
    state = dataset_state(store, bound["dataset"])
    if query.reads_cliques:
        state.require_mined()
    else:
        state.require_complete()
    for parameter_name, parameter in query.parameters.items():
        value = bound[parameter_name]
        if parameter.names is not None and value:
            values = value if isinstance(value, list) else [value]
            check_names(store, bound["dataset"], parameter.names, values)
            if parameter.names is PLAN:
                _require_current(store, state, value)
    return query, bound


def _require_current(store: GraphStore, state: DatasetState, plan: str) -> None:
    """Raise unless a plan was made for the cliques that are there now."""
    (row,) = store.read(
        "MATCH (p:Plan {dataset: $dataset, name: $plan}) RETURN properties(p) AS plan",
        dataset=state.name,
        plan=plan,
    )
    if row["plan"]["mined_as"] != state.mined_as:
        raise StaleError(
            f"The plan {plan!r} was made before {state.name!r} was mined as it is now. ",
            *planned_again(state, row["plan"]),
            ".",
        )


def check_names(store: GraphStore, dataset: str, node: Node, names: list[str]) -> None:
    """Raise UnknownNameError unless the dataset has a node of the kind with each name."""
    rows = store.read(
        f"MATCH (n:{node.label} {{{DATASET}: $dataset}}) RETURN n.{node.key.name} AS name",
        dataset=dataset,
    )
    known = {row["name"] for row in rows}
    for name in names:
        if name not in known:
            raise UnknownNameError(node.label.lower(), name, known)
