"""The concept graph as a graph of networkx."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.diagnosis.imbalance import COUNT, imbalance_table
from cobalance.graph.errors import needs_extra
from cobalance.workflows.export_graph.tables import LEAN, GraphTables

if TYPE_CHECKING:
    import networkx as nx


def networkx_graph(tables: GraphTables) -> "nx.Graph[str]":
    """Return concepts, and the classes and cliques of the tables, as an undirected graph.

    A concept's node is its name. A class is ``class:<name>`` and a clique ``clique:<number>``, from
    1, with more colons where a concept has such a name. The attribute ``kind`` says which nodes
    are which; the columns of the tables are attributes of Python's own types. A value that is not
    defined (missing, or no finite number) is no attribute, as files of graphs cannot hold it.

    Raises
    ------
    MissingExtraError
        networkx is not installed.

    Examples
    --------
    >>> concepts = pd.DataFrame({"concept": ["cow"], "images": [3], "lift": [float("nan")]})
    >>> pairs = pd.DataFrame(columns=["concept_1", "concept_2", "images"])
    >>> dict(networkx_graph(GraphTables(concepts, pairs)).nodes["cow"])
    {'kind': 'concept', 'images': 3}
    """
    with needs_extra("A graph for networkx", "graphs"):
        import networkx as nx
    graph: nx.Graph[str] = nx.Graph()
    for row in _rows(tables.concepts):
        graph.add_node(row.pop("concept"), kind="concept", **row)
    for row in _rows(tables.pairs):
        graph.add_edge(row.pop("concept_1"), row.pop("concept_2"), **row)
    names = tables.concepts["concept"]
    prefix = _free("class:", names)
    for class_name, images in tables.class_sizes.items():
        graph.add_node(prefix + class_name, kind="class", label=class_name, images=images)
    for row in _rows(tables.class_counts):
        graph.add_edge(prefix + row["class_name"], row["concept"], images=row["images"])
    if tables.cliques is not None:
        _add_cliques(graph, tables.cliques, _free("clique:", names))
    return graph


def _add_cliques(graph: "nx.Graph[str]", cliques: Cliques, prefix: str) -> None:
    """Add a node for each clique, with an edge to each of its concepts."""
    table = imbalance_table(cliques)
    columns = ["size", *(COUNT + name for name in cliques.classes), *LEAN]
    rows = zip(cliques.names(), _rows(table[columns]), strict=True)
    for number, (names, row) in enumerate(rows, 1):
        node = f"{prefix}{number}"
        graph.add_node(node, kind="clique", label=" + ".join(names), **row)
        graph.add_edges_from((node, name) for name in names)


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of a frame, each with the values that are defined."""
    names = list(map(str, frame.columns))
    columns = [frame[name].astype(object).tolist() for name in frame.columns]
    for values in zip(*columns, strict=True):
        yield _defined(dict(zip(names, values, strict=True)))


def _defined(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in row.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }


def _free(prefix: str, names: "pd.Series[str]") -> str:
    """The prefix, with as many colons as no name begins with."""
    while names.str.startswith(prefix).any():
        prefix += ":"
    return prefix
