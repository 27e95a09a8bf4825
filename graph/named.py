"""Run a query of the catalogue: parameters bound, names checked, nothing stale."""

from collections.abc import Mapping
from typing import Any

from graph.catalogue import CATALOGUE, CatalogueQuery
from graph.datasets import dataset_state
from graph.errors import UnknownNameError
from graph.schema import DATASET, Node
from graph.store import GraphStore


def bind_named(
    store: GraphStore, name: str, given: Mapping[str, Any]
) -> tuple[CatalogueQuery, dict[str, Any]]:
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
        An ingest did not end, or the query reads cliques and those are not up to date.
    """
    query = CATALOGUE[name]
    bound = query.bind(given)
    state = dataset_state(store, bound["dataset"])
    if query.reads_cliques:
        state.require_mined()
    else:
        state.require_whole()
    for parameter_name, parameter in query.parameters.items():
        value = bound[parameter_name]
        if parameter.names is not None and value:
            values = value if isinstance(value, list) else [value]
            check_names(store, bound["dataset"], parameter.names, values)
    return query, bound


def check_names(store: GraphStore, dataset: str, node: Node, names: list[str]) -> None:
    """Raise UnknownNameError unless the dataset has a node of the kind with each name."""
    rows = store.read(
        f"MATCH (n:{node.label} {{{DATASET}: $dataset}}) RETURN n.{node.key} AS name",
        dataset=dataset,
    )
    known = {row["name"] for row in rows}
    for name in names:
        if name not in known:
            raise UnknownNameError(node.label.lower(), name, known)
