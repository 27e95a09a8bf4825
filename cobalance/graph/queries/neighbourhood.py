"""Neighbourhood of a concept or class, shortest links, and their exports."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from cobalance.base import defined_rows
from cobalance.graph.database import GraphStore, Row, schema
from cobalance.graph.dataset import check_names, state_with_names
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.concept_counts import ClassSizes, CountedDataset
from cobalance.statistics import COUNT

Kind = Literal["concept", "class"]

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbourhood(ClassSizes):
    """The part of the concept graph around one node.

    Parameters
    ----------
    nodes : pandas.DataFrame
        ``kind`` (``"concept"`` or ``"class"``), ``name``, ``images``, ``count_<class>`` (the
        images of each class with it; a class has all its own), ``expanded`` (bool) and
        ``hidden``: how many edges of an expanded node are left out. The centre first, then by
        images. A class and a concept may have the same name.
    edges : pandas.DataFrame
        Edges of expanded nodes. ``source_kind``, ``source``, ``target`` (a concept; so is the
        source, unless it is the centre of kind class), ``images`` with both, ``lift``, and
        ``count_<class>``: the images of each class with both, see `pair_class_sizes`; of an edge
        from a class all are of that class. The strongest first.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame


@dataclass(frozen=True)
class Link:
    """A path of concepts, and how many images each shares with the next."""

    concepts: tuple[str, ...]
    images: tuple[int, ...]


def read_neighbourhood(
    store: GraphStore,
    dataset: str,
    centre: str,
    kind: Kind = "concept",
    expanded: Sequence[str] = (),
    limit: int = 25,
) -> Neighbourhood:
    """Read a node, its strongest neighbours, and the neighbours of expanded ones.

    Parameters
    ----------
    centre : str
        The name of a concept or class.
    kind : str
        Which of both it is.
    expanded : sequence of str
        Further concepts whose neighbours are shown, in any order. One that is no longer shown
        itself, since its neighbour was collapsed, is ignored.
    limit : int
        Most neighbours of one node, those with most images first; 1 or more.

    Raises
    ------
    NotFoundError, StaleError
        As from `CountedDataset.of`.
    UnknownNameError
        No such class or concept.
    """
    counted = CountedDataset.of(store, dataset)
    if kind == "class":
        names, classes = list(dict.fromkeys(expanded)), [centre]
    else:
        names, classes = list(dict.fromkeys([centre, *expanded])), []
    check_names(store, dataset, {schema.CONCEPT: names, schema.CLASS: classes})

    class_rows: list[Row] = []
    start = [centre]
    if kind == "class":
        class_rows = counted.ask("concepts-of-class", **{"class": centre, "limit": limit})
        start = [row["concept"] for row in class_rows]
    neighbour_rows: list[Row] = []
    if names:
        neighbour_rows = counted.ask("neighbours-of-concepts", concepts=names, limit=limit)

    shown, opened = _reach(start, names, neighbour_rows)
    opened_rows = [row for row in neighbour_rows if row["concept"] in opened]
    pairs = _edge_rows(opened_rows)

    # An edge that is shown may come from either end.
    hidden = {row["concept"]: row["found"] for row in opened_rows}
    for row in pairs:
        for end in (row["source"], row["target"]):
            if end in hidden:
                hidden[end] -= 1

    nodes: list[Row] = []
    if kind == "class":
        nodes.append(_class_node_row(centre, counted.class_sizes[centre], class_rows))
    if shown:
        for row in counted.ask("concept-counts", concepts=list(shown)):
            name = row["concept"]
            properties = {"expanded": name in opened, "hidden": hidden.get(name, 0)}
            nodes.append({**row, "kind": "concept", "name": name, **properties})
    nodes.sort(key=lambda row: (row["kind"], row["name"]) != (kind, centre))

    edges = [*_class_edge_rows(centre, class_rows), *pairs]
    edges.sort(key=lambda row: (-row["images"], row["source"], row["target"]))
    return Neighbourhood(
        nodes=counted.concept_frame(nodes, ["kind", "name", "images", "expanded", "hidden"]),
        edges=counted.pair_frame(edges, ["source_kind", "source", "target", "images", "lift"]),
        class_sizes=counted.class_sizes,
        pair_class_sizes=counted.pair_class_sizes,
    )


def shortest_link(store: GraphStore, dataset: str, a: str, b: str) -> Link | None:
    """Find the shortest path between two concepts along shared images.

    Returns
    -------
    Link or None
        Of equally short chains the one whose weakest edge is strongest, then the one with the
        largest sum, then the first by names; of more than 100,000 only some are compared. None
        where no chain connects the two.

    Raises
    ------
    NotFoundError, StaleError
        No such dataset, or an ingest of it did not end.
    UnknownNameError
        No such concept.
    """
    state_with_names(store, dataset, {schema.CONCEPT: [a, b]})
    if a == b:
        return Link((a,), ())

    query = CATALOGUE["shortest-link"]
    rows = store.read(query, **query.bind({"dataset": dataset, "concepts": [a, b]}))
    if not rows:
        return None

    concepts, images = rows[0]["concepts"], rows[0]["images"]
    direction = 1 if concepts[0] == a else -1
    return Link(tuple(concepts[::direction]), tuple(images[::direction]))


def to_graphml(nodes: pd.DataFrame, edges: pd.DataFrame) -> bytes:
    """Export a neighbourhood as an undirected graph in GraphML (UTF-8).

    Nodes have ``kind``, ``label`` (the name), ``images`` and ``count_<class>``; edges ``images``,
    ``lift`` and ``count_<class>`` where it is known. A character that XML cannot hold becomes
    U+FFFD.

    Examples
    --------
    >>> nodes = pd.DataFrame({"kind": "concept", "name": ["cow", "<road>"], "images": [3, 2]})
    >>> edges = pd.DataFrame(
    ...     {"source_kind": ["concept"], "source": ["<road>"], "target": ["cow"], "images": [1]})
    >>> b'<data key="d1">&lt;road&gt;</data>' in to_graphml(nodes, edges)
    True
    """
    # Importing it takes a tenth of a second.
    import networkx as nx

    graph = nx.Graph()
    key_of: dict[tuple[str, str], str] = {}

    for row in defined_rows(nodes):
        key = key_of[row["kind"], row["name"]] = f"n{len(key_of)}"
        graph.add_node(key, **_for_xml({"kind": row["kind"], "label": row["name"], **row}))

    for row in defined_rows(edges):
        ends = key_of[row["source_kind"], row["source"]], key_of["concept", row["target"]]
        graph.add_edge(*ends, **_for_xml(row))

    target = io.BytesIO()
    nx.write_graphml(graph, target)
    return target.getvalue()


def _reach(
    start: Sequence[str], expanded: Sequence[str], rows: Sequence[Row]
) -> tuple[set[str], set[str]]:
    """Find the concepts within reach of `start`, and the expanded ones among them."""
    neighbours: dict[str, list[str]] = {name: [] for name in expanded}
    for row in rows:
        neighbours[row["concept"]].append(row["neighbour"])

    shown, opened = set(start), set[str]()
    while reached := (shown & neighbours.keys()) - opened:
        opened |= reached
        shown.update(*(neighbours[name] for name in reached))
    return shown, opened


def _edge_rows(rows: Iterable[Row]) -> list[Row]:
    """Edges between concepts, once each, from the lower name to the higher as in the graph."""
    edges: dict[tuple[str, str], Row] = {}
    for row in rows:
        source, target = sorted((row["concept"], row["neighbour"]))
        edges[source, target] = row | {"source_kind": "concept", "source": source, "target": target}
    return list(edges.values())


def _class_edge_rows(class_name: str, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield row | {
            "source_kind": "class",
            "source": class_name,
            "target": row["concept"],
            "counts": [[class_name, row["images"]]],
        }


def _class_node_row(class_name: str, images: int, rows: Sequence[Row]) -> Row:
    """The node of a class whose first concepts are these rows."""
    n_concepts = rows[0]["found"] if rows else 0
    return {
        "kind": "class",
        "name": class_name,
        "images": images,
        "counts": [[class_name, images]],
        "expanded": True,
        "hidden": n_concepts - len(rows),
    }


def _for_xml(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and texts of a row, cleaned for XML, without the names of its ends."""
    cleaned = {}
    for name, value in row.items():
        if name in ("kind", "label", "images", "lift") or name.startswith(COUNT):
            cleaned[_clean(name)] = _clean(value) if isinstance(value, str) else value
    return cleaned


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub(_REPLACEMENT, text)
