"""Names of classes, concepts and plans to choose from."""

import pandas as pd

from cobalance.app.web.state.session import CurrentDataset
from cobalance.graph.database import schema
from cobalance.graph.database.declarations import Node
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.binding import bind_named

_QUERIES: dict[str, tuple[str, dict[str, int]]] = {
    schema.CLASS.label: ("classes", {}),
    schema.CONCEPT.label: ("concepts", {"limit": 1_000_000}),
    schema.PLAN.label: ("plans", {}),
}


def names_of(current: CurrentDataset, node: Node) -> list[str]:
    """The names of a dataset's classes, concepts or plans, in ascending order."""
    if node is schema.PLAN:  # written without a change of the dataset's state
        frame = read_names(current.store, current.name, node.label)
    else:
        frame = current.read(read_names, node.label)
    return sorted(frame[node.label.lower()])


def read_names(store: GraphStore, dataset: str, label: str) -> pd.DataFrame:
    """The frame of the saved query that lists a kind of node.

    Raises
    ------
    StaleError
        An ingest of the dataset did not end.
    """
    name, given = _QUERIES[label]
    query, bound = bind_named(store, name, {"dataset": dataset, **given})
    return store.read_frame(query.text, **bound)
