"""Complete ids from their first characters."""

from cobalance.graph.database.declarations import Node
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries import statements

MOST_IDS = 20


def ids_beginning(store: GraphStore, prefix: str, *nodes: Node) -> dict[str, str]:
    """Ids of some kinds of nodes that begin with a text, with their labels; at most `MOST_IDS`."""
    labels = [node.label for node in nodes]
    rows = store.read(statements.IDS_BEGINNING, prefix=prefix, labels=labels, limit=MOST_IDS)
    return {row["id"]: row["label"] for row in rows}
