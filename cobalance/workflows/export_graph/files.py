"""Files of the concept graph: GraphML, GEXF, node-link JSON, CSV for Neo4j's import."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cobalance.generation.export.writing.staging import staged
from cobalance.graph.errors import OptionError, Setting, UnknownNameError, needs_extra
from cobalance.graph.whole_files import replacing
from cobalance.workflows.export_graph.neo4j_csv import import_command, neo4j_files
from cobalance.workflows.export_graph.networkx_graph import networkx_graph
from cobalance.workflows.export_graph.tables import GraphTables

if TYPE_CHECKING:
    import networkx as nx

FORMATS = ("graphml", "gexf", "json", "neo4j")
"""Formats by name; all but ``neo4j``, a folder, are the suffix of a file."""

_NOT_XML = re.compile("[\ufffe\uffff]")  # what names may hold of all that XML 1.0 may not


def save_graph(
    tables: GraphTables,
    target: Path,
    graph_format: str | None = None,
    *,
    dataset: str = "",
    overwrite: bool = False,
) -> str | None:
    """Write the concept graph; what was there before stays if that fails.

    Parameters
    ----------
    target : Path
        A file, which is replaced, or a folder, for ``neo4j``.
    graph_format : str, optional
        A name in `FORMATS`; by default what the target's suffix says.
    dataset : str
        What the nodes are of, for Neo4j.
    overwrite : bool
        Replace a folder whatever is in it, not only if it is an unchanged one of the same.

    Returns
    -------
    str or None
        The command that imports a folder into Neo4j.

    Raises
    ------
    MissingExtraError
        networkx is not installed, and the format is not ``neo4j``.
    OptionError
        The format is unknown, or a name cannot be written in it.
    CobalanceError
        The target cannot be written, or the folder holds something else.
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
            write(graph, file, prettyprint=False)  # a fifth smaller
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
    with staged(target, identity, overwrite=overwrite) as staging:
        files = neo4j_files(tables, dataset)
        for name, content in files.items():
            staging.write(name, content)
        staging.seal(dict(identity))
    return import_command(files, target)


def _check_xml(graph: "nx.Graph[str]") -> None:
    for node, attributes in graph.nodes(data=True):
        for text in (node, *attributes, *attributes.values()):
            if isinstance(text, str) and _NOT_XML.search(text):
                raise OptionError(
                    f"{text!r} holds a character that XML does not allow. Write the graph as json."
                )
