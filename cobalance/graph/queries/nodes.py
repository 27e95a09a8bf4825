"""Any node of the graph with its properties and relationships, and names instead of ids."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobalance.graph.database import GraphStore, Node, Statement, schema
from cobalance.graph.queries import statements

# Ids that names are read for at once.
MOST_NAMED = 1000
MOST_IDS = 20
_TYPES = sorted({edge.type for edge in schema.EDGES})
_DETAILS = f"""
RETURN labels(n) AS labels, properties(n) AS properties,
  {{{", ".join(f"{name}: count {{ (n)-[:{name}]-() }}" for name in _TYPES)}}} AS degrees"""

NODES_BY_IDS = Statement(
    "Nodes by their element ids, with what names them.",
    """
MATCH (n) WHERE elementId(n) IN $ids
RETURN elementId(n) AS id, labels(n) AS labels,
  n {.name, .id, .key, .concepts, .class_name, .plan} AS properties""",
)


@dataclass(frozen=True)
class NodeDetails:
    """A node of the graph.

    Parameters
    ----------
    labels : tuple of str
        Its labels.
    properties : dict
        Its properties.
    degrees : dict of str to int
        How many relationships of each type it has, in either direction; the types that it has.
    """

    labels: tuple[str, ...]
    properties: dict[str, Any]
    degrees: dict[str, int]

    @property
    def name(self) -> str:
        """Its name, see `name_of`."""
        return name_of(self.labels, self.properties)


def name_of(labels: Sequence[str], properties: Mapping[str, Any]) -> str:
    """Name a node for people: by its name, its concepts, else its own id or its label.

    Examples
    --------
    >>> name_of(["Concept"], {"name": "cow", "images": 3})
    'cow'
    >>> name_of(["JobQuery"], {"id": "0f3a", "class_name": "urban", "concepts": ["alley", "cow"]})
    'urban: alley + cow'
    >>> name_of(["Job"], {"id": "0f3a", "plan": "cows"}), name_of(["Thing"], {})
    ('Job of cows', 'Thing')
    """
    kind = labels[0] if labels else "node"
    if isinstance(properties.get("name"), str):
        return str(properties["name"])

    concepts = properties.get("concepts")
    if isinstance(concepts, list) and all(isinstance(name, str) for name in concepts):
        class_name = f"{properties['class_name']}: " if properties.get("class_name") else ""
        return class_name + (" + ".join(concepts) or "no concept")

    if kind != "Image" and isinstance(properties.get("plan"), str):
        return f"{kind} of {properties['plan']}"

    key = properties.get("key")
    if isinstance(key, list) and key:
        return " · ".join(map(str, key))

    if isinstance(properties.get("id"), str):
        return str(properties["id"])
    return kind


def read_node(store: GraphStore, element_id: str) -> NodeDetails | None:
    """Read a node by its element id; None if it is gone."""
    text = f"MATCH (n) WHERE elementId(n) = $id{_DETAILS}"
    return _details(store.read(text, id=element_id))


def read_named(store: GraphStore, kind: Node, dataset: str, name: str) -> NodeDetails | None:
    """Read a class or a concept by its name; None if it does not exist."""
    text = f"MATCH (n:{kind.label} {{dataset: $dataset, name: $name}}){_DETAILS}"
    return _details(store.read(text, dataset=dataset, name=name))


def read_node_names(store: GraphStore, element_ids: Collection[str]) -> dict[str, str]:
    """Read the names of up to `MOST_NAMED` nodes by element id; deleted ones are left out."""
    if not element_ids:
        return {}
    rows = store.read(NODES_BY_IDS, ids=list(element_ids)[:MOST_NAMED])
    return {row["id"]: name_of(row["labels"], row["properties"]) for row in rows}


def ids_beginning(store: GraphStore, prefix: str, *nodes: Node) -> dict[str, str]:
    """Ids of some kinds of nodes that begin with a text, with their labels; at most `MOST_IDS`."""
    labels = [node.label for node in nodes]
    rows = store.read(statements.IDS_BEGINNING, prefix=prefix, labels=labels, limit=MOST_IDS)
    return {row["id"]: row["label"] for row in rows}


def _details(rows: Sequence[Mapping[str, Any]]) -> NodeDetails | None:
    if not rows:
        return None

    row = rows[0]
    degrees = {name: count for name, count in row["degrees"].items() if count}
    return NodeDetails(tuple(row["labels"]), dict(row["properties"]), degrees)
