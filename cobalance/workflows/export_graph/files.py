"""Files of the concept graph: GraphML, GEXF, node-link JSON, CSV for Neo4j's import."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from cobalance.base import (
    DataError,
    OptionError,
    Setting,
    UnknownNameError,
    defined_rows,
    needs_extra,
    replacing,
)
from cobalance.counting import Cliques
from cobalance.generation import open_staging
from cobalance.statistics import COUNT, imbalance_table
from cobalance.workflows.export_graph import FORMATS
from cobalance.workflows.export_graph.neo4j_csv import import_command, neo4j_files
from cobalance.workflows.export_graph.tables import LEAN, GraphTables

if TYPE_CHECKING:
    import networkx as nx

# Characters that names may hold, and XML 1.0 may not.
_NOT_XML = re.compile("[\ufffe\uffff]")


def save_graph(
    tables: GraphTables,
    target: Path,
    graph_format: str | None = None,
    *,
    dataset: str = "",
    overwrite: bool = False,
) -> str | None:
    """Write the concept graph to a file or folder, whole or not at all.

    `cobalance.notebook.graphs.ConceptGraph.save` tells formats, the command returned, and errors.
    `dataset` is what the nodes are of, for Neo4j.
    """
    name = _format_of(target) if graph_format is None else graph_format
    if name not in FORMATS:
        raise UnknownNameError("graph format", name, FORMATS)
    if name == "neo4j":
        return _save_folder(tables, target, dataset, overwrite=overwrite)

    with needs_extra(f"A graph as {name}", "graphs"):
        import networkx as nx
    graph = networkx_graph(tables)
    with replacing(target) as part, part.open("xb") as file:
        if name == "json":
            data = nx.node_link_data(graph, edges="edges")
            file.write(json.dumps(data, ensure_ascii=False, allow_nan=False).encode())
        else:
            _check_xml(graph)
            write = nx.write_graphml if name == "graphml" else nx.write_gexf
            # Without indentation files are a fifth smaller.
            write(graph, file, prettyprint=False)
    return None


def _format_of(target: Path) -> str:
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in FORMATS[:-1]:
        raise OptionError(
            f"{target}: its suffix is of no graph format. End it in .graphml, .gexf or .json, or "
            "choose a format with ",
            Setting("graph_format"),
            f": {', '.join(FORMATS)}.",
        )
    return suffix


def _save_folder(tables: GraphTables, target: Path, dataset: str, *, overwrite: bool) -> str:
    identity: Mapping[str, object] = {"name": dataset, "format": "neo4j-import", "job": None}
    with open_staging(target, identity, overwrite=overwrite) as staging:
        files = neo4j_files(tables, dataset)
        for name, content in files.items():
            staging.write(name, content)
        staging.seal(dict(identity))
    return import_command(files, target)


def _check_xml(graph: "nx.Graph[str]") -> None:
    for node, attributes in graph.nodes(data=True):
        for text in (node, *attributes, *attributes.values()):
            if isinstance(text, str) and _NOT_XML.search(text):
                raise DataError(
                    f"{text!r} holds a character that XML does not allow. Write the graph as json."
                )


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
    for row in defined_rows(tables.concepts):
        graph.add_node(row.pop("concept"), kind="concept", **row)
    for row in defined_rows(tables.pairs):
        graph.add_edge(row.pop("concept_1"), row.pop("concept_2"), **row)

    # A class may have the name of a concept, or begin as the node of a clique does.
    names = tables.concepts["concept"]
    prefix = _free("class:", names)
    for class_name, images in tables.class_sizes.items():
        graph.add_node(prefix + class_name, kind="class", label=class_name, images=images)
    for row in defined_rows(tables.class_counts):
        graph.add_edge(prefix + row["class_name"], row["concept"], images=row["images"])
    if tables.cliques is not None:
        _add_cliques(graph, tables.cliques, _free("clique:", names))
    return graph


def _add_cliques(graph: "nx.Graph[str]", cliques: Cliques, prefix: str) -> None:
    """Add a node for each clique, with an edge to each of its concepts."""
    table = imbalance_table(cliques)
    columns = ["size", *(COUNT + name for name in cliques.classes), *LEAN]
    rows = zip(cliques.names(), defined_rows(table[columns]), strict=True)
    for number, (names, row) in enumerate(rows, 1):
        node = f"{prefix}{number}"
        graph.add_node(node, kind="clique", label=" + ".join(names), **row)
        graph.add_edges_from((node, name) for name in names)


def _free(prefix: str, names: "pd.Series[str]") -> str:
    """The prefix, with as many colons as no name begins with."""
    while names.str.startswith(prefix).any():
        prefix += ":"
    return prefix
