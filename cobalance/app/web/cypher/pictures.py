"""Pictures of query results: the nodes and links that a result speaks of."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cobalance.app.web.cypher.answers import is_names, lines_of
from cobalance.graph.console.run import ConsoleResult
from cobalance.graph.console.values import NodeValue, RelationshipValue
from cobalance.graph.queries.neighbourhood import Kind
from cobalance.graph.queries.nodes import name_of
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from cobalance.workflows.concept_graph.overview import label_widths_px, node_id
from cobalance.workflows.concept_graph.radial import radial_layout
from cobalance.workflows.concept_graph.skew_layout import edge_widths_px, node_sizes_px

MOST_NODES = 80  # in a picture
_WEIGHTS = ("images", "count", "gap", "n")  # columns and properties that say how strong a link is
_PAIRS = (("concept_1", "concept_2"), ("concept", "neighbour"), ("start", "end"))


class FoundNode(NamedTuple):
    """A node that a result speaks of."""

    name: str
    kind: Kind
    label: str = ""
    """Its label in the graph, if it is known."""
    description: str = ""
    element_id: str | None = None
    """None where the result has its name alone."""


@dataclass
class Elements:
    """The nodes and links that a result speaks of, each once, in the order of its rows."""

    nodes: dict[str, FoundNode] = field(default_factory=dict)
    """By element id, or by name where the result has names alone."""
    links: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)
    """Weight and description by the ids of both ends."""

    def __bool__(self) -> bool:
        return bool(self.links)

    def add(self, name: str, kind: Kind = "concept") -> str:
        """Add a concept or class; return its id."""
        self.nodes.setdefault(node_id(name, kind), FoundNode(name, kind, kind.capitalize()))
        return node_id(name, kind)

    def link(self, start: str, end: str, weight: float, description: str) -> None:
        """Add a link, or keep the stronger of two between the same nodes."""
        key = (start, end) if (end, start) not in self.links else (end, start)
        if start != end and weight >= self.links.get(key, (-np.inf, ""))[0]:
            self.links[key] = weight, description


def elements_in(
    result: ConsoleResult,
    classes: Iterable[str] = (),
    concept: str | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Elements:
    """Find the nodes and links of a result, in graph values or in columns of names.

    Names are those in the columns of the saved queries: ``concepts``, which are linked with each
    other, ``concept_1`` and ``concept_2``, ``start`` and ``end``, ``class`` and ``concept``.

    Parameters
    ----------
    classes : iterable of str
        The names of classes, for columns that hold classes and concepts.
    concept : str, optional
        The concept that the query asks about, and that a column ``concept`` is linked with.
    names : mapping of str to str
        The names of nodes by element id, for the ends of relationships that were not returned.
    """
    found = Elements()
    known = frozenset(classes)
    for row in result.rows:
        for value in row:
            _collect(value, found, names)
    if found:
        return found
    for row in result.rows:
        _collect_names(dict(zip(result.columns, row, strict=True)), found, known, concept)
    return found


def _collect(value: Any, found: Elements, names: Mapping[str, str]) -> None:
    """Collect the graph elements of a value, see `graph.console.values.PlainValues.of`."""
    match value:
        case NodeValue():
            kind: Kind = "class" if "Class" in value["labels"] else "concept"
            name = name_of(value["labels"], value["properties"])
            labels = ":".join(["", *value["labels"]])
            described = "\n".join([labels, *lines_of(value["properties"])[:5]])
            label = value["labels"][0] if value["labels"] else ""
            found.nodes[value["id"]] = FoundNode(name, kind, label, described, value["id"])
        case RelationshipValue():
            for end in (value["start"], value["end"]):
                name = names.get(end, "not returned")
                found.nodes.setdefault(end, FoundNode(name, "concept", element_id=end))
            described = "\n".join([value["type"], *lines_of(value["properties"])])
            found.link(value["start"], value["end"], _weight(value["properties"])[0], described)
        case dict():
            for item in value.values():
                _collect(item, found, names)
        case list():
            for item in value:
                _collect(item, found, names)


def _weight(values: Mapping[str, Any]) -> tuple[float, str]:
    """Weight of a link, as a number and in words."""
    for name in _WEIGHTS:
        value = values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if math.isfinite(value):
            return float(value), f"{name}: {value:,}"
    return 1.0, ""


def _collect_names(
    row: Mapping[str, Any], found: Elements, classes: frozenset[str], concept: str | None
) -> None:
    weight = _weight(row)
    members = row.get("concepts")
    if is_names(members):
        nodes = [found.add(name) for name in members or ()]
        for start, end in combinations(nodes, 2):
            found.link(start, end, *weight)
    for first, second in _PAIRS:
        a, b = row.get(first), row.get(second)
        if isinstance(a, str) and isinstance(b, str):
            kind: Kind = "class" if first == "start" and a in classes else "concept"
            found.link(found.add(a, kind), found.add(b), *weight)
    one, class_name = row.get("concept"), row.get("class")
    if isinstance(one, str) and isinstance(class_name, str):
        found.link(found.add(class_name, "class"), found.add(one), *weight)
    elif isinstance(one, str) and "neighbour" not in row and concept is not None:
        found.link(found.add(concept), found.add(one), *weight)


def picture_of(found: Elements, classes: Sequence[str]) -> GraphPicture:
    """Place up to `MOST_NODES` nodes on rings around the one with most links.

    Classes, and links with them, have the colours that they have everywhere; concepts are neutral.
    """
    ids = list(found.nodes)[:MOST_NODES]
    code_of = {node: code for code, node in enumerate(ids)}
    links = [
        (code_of[a], code_of[b], *told)
        for (a, b), told in found.links.items()
        if a in code_of and b in code_of
    ]
    ends = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    degree = np.bincount(ends.ravel(), minlength=len(ids))
    sizes_px = node_sizes_px(degree + 1)
    told_of = [found.nodes[node] for node in ids]
    labels = [node.name for node in told_of]
    sides = dict(zip(sorted(classes), (-1.0, 1.0), strict=False)) if len(classes) == 2 else {}
    lean = [sides.get(node.name, 0.0) if node.kind == "class" else 0.0 for node in told_of]
    places = radial_layout(ends, lean, sizes_px, label_widths_px(labels)).tolist()
    by_name = class_colors(classes)
    colors = [by_name.get(node.name) if node.kind == "class" else None for node in told_of]
    nodes = [
        GraphNode(id_, node.name, node.kind, x, y, size, 0.0, node.description, color=color)
        for id_, node, (x, y), size, color in zip(
            ids, told_of, places, sizes_px.tolist(), colors, strict=True
        )
    ]
    widths = edge_widths_px([weight for _, _, weight, _ in links]).tolist()
    edges = [
        GraphEdge(ids[a], ids[b], width, 0.0, description, colors[a] or colors[b])
        for (a, b, _, description), width in zip(links, widths, strict=True)
    ]
    return GraphPicture(nodes, edges, NEUTRAL, NEUTRAL)
