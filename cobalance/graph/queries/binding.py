"""Bind a catalogue query: check its parameters, the names in them, and the dataset's state."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cobalance.base import StaleError
from cobalance.graph.database import PLAN, GraphStore, Node, Query
from cobalance.graph.dataset import (
    DatasetState,
    find_outdated,
    replan_actions,
    state_with_names,
    statements,
)
from cobalance.graph.queries.catalogue import CATALOGUE


def bind_named(
    store: GraphStore, name: str, given: Mapping[str, Any]
) -> tuple[Query, dict[str, Any]]:
    """Bind a catalogue query to checked parameters.

    A misspelt concept would count zero images, which looks like a finding; so names are looked up
    first.

    Raises
    ------
    UnknownNameError
        No such query, parameter, or class, concept or plan in the dataset.
    OptionError
        A parameter is missing or of the wrong type.
    DataError
        The query counts images, and the graph keeps a sample of them.
    NotFoundError, StaleError
        No such dataset, an ingest of it did not end, the query reads cliques that are not up to
        date, or a plan that was made for other cliques.
    """
    query, bound, _ = bind_with_state(store, name, given)
    return query, bound


def read_saved(store: GraphStore, name: str, /, **parameters: Any) -> pd.DataFrame:
    """Run a catalogue query with parameters, ``dataset`` among them; errors as `bind_named`."""
    query, bound = bind_named(store, name, parameters)
    return store.read_frame(query, **bound)


def bind_with_state(
    store: GraphStore, name: str, given: Mapping[str, Any]
) -> tuple[Query, dict[str, Any], DatasetState]:
    """Bind a query and return the dataset's state with it; one round trip, or two for a plan."""
    query = CATALOGUE[name]
    bound = query.bind(given)

    names: dict[Node, list[str]] = {}
    for parameter_name, parameter in query.parameters.items():
        if parameter.names is not None and (value := bound[parameter_name]):
            values = value if isinstance(value, list) else [value]
            names.setdefault(parameter.names, []).extend(values)

    state = state_with_names(store, bound["dataset"], names, mined=query.reads_cliques)
    if query.counts_images:
        state.require_all_images(f"The query {name}")
    for plan in names.get(PLAN, ()):
        _require_current(store, state, plan)
    return query, bound, state


def _require_current(store: GraphStore, state: DatasetState, plan: str) -> None:
    """Raise unless a plan was made for the cliques, or the images to edit, of now."""
    (row,) = store.read(statements.PLAN, dataset=state.name, plan=plan)
    changed = find_outdated(state, row["plan"])
    if changed is not None:
        since = "was mined as it is" if changed == "cliques" else "had the images that it has"
        raise StaleError(
            f"The plan {plan!r} was made before {state.name!r} {since} now. ",
            *replan_actions(state, row["plan"]),
            ".",
        )
