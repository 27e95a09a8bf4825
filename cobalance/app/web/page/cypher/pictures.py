"""Pictures of query results: the nodes and links that a result speaks of."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cobalance.app.web.page.cypher.answers import is_names, lines_of
from cobalance.graph import ConsoleResult, Kind, NodeValue, RelationshipValue, name_of
from cobalance.graph.database import schema
from cobalance.workflows import (
    NEUTRAL,
    GraphEdge,
    GraphNode,
    GraphPicture,
    class_colors,
    edge_widths_px,
    label_widths_px,
    node_id,
    node_sizes_px,
    radial_layout,
)

# Of a picture.
MOST_NODES = 80
# Columns and properties that say how strong a link is, the first of them that has a number.
_WEIGHTS = ("images", "count", "gap", "n")
# Of nodes that stand for several concepts, in no class's colour, and how much smaller they are.
_CLIQUE_COLOR, _CLIQUE_SCALE = "#6A5ACD", 0.7
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
        key = (start, end)
        # A graph without directions has one of the two.
        if (end, start) in self.links:
            key = (end, start)
        strongest, _ = self.links.get(key, (-np.inf, ""))
        if start != end and weight >= strongest:
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
    elements = Elements()
    for row in result.rows:
        for value in row:
            _collect(value, elements, names)
    if elements:
        return elements

    # Without links among graph values, names may be of linked nodes.
    class_names = frozenset(classes)
    for row in result.rows:
        values = dict(zip(result.columns, row, strict=True))
        _collect_names(values, elements, class_names, concept)
    return elements


def _collect(value: Any, elements: Elements, names: Mapping[str, str]) -> None:
    """Collect the graph elements of a value, see `graph.console.values.PlainValues.of`."""
    match value:
        case NodeValue():
            labels = value["labels"]
            lines = [":".join(["", *labels]), *lines_of(value["properties"])[:5]]
            elements.nodes[value["id"]] = FoundNode(
                name=name_of(labels, value["properties"]),
                kind="class" if "Class" in labels else "concept",
                label=next(iter(labels), ""),
                description="\n".join(lines),
                element_id=value["id"],
            )
        case RelationshipValue():
            for end in (value["start"], value["end"]):
                name = names.get(end, "not returned")
                elements.nodes.setdefault(end, FoundNode(name, "concept", element_id=end))
            description = "\n".join([value["type"], *lines_of(value["properties"])])
            weight, _ = _weight(value["properties"])
            elements.link(value["start"], value["end"], weight, description)
        case dict():
            for item in value.values():
                _collect(item, elements, names)
        case list():
            for item in value:
                _collect(item, elements, names)


def _weight(values: Mapping[str, Any]) -> tuple[float, str]:
    """Weight of a link, as a number and in words."""
    for name in _WEIGHTS:
        value = values.get(name)
        # A bool is an int in Python, and no weight.
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if math.isfinite(value):
            return float(value), f"{name}: {value:,}"
    return 1.0, ""


def _collect_names(
    row: Mapping[str, Any], elements: Elements, classes: frozenset[str], concept: str | None
) -> None:
    """Collect the nodes and links that the columns of a row name."""
    weight, description = _weight(row)
    members = row.get("concepts")
    if is_names(members):
        nodes = list(map(elements.add, members or ()))
        for start, end in combinations(nodes, 2):
            elements.link(start, end, weight, description)

    for first, second in _PAIRS:
        source, target = row.get(first), row.get(second)
        if isinstance(source, str) and isinstance(target, str):
            # Of these columns only "start" has classes, too.
            kind: Kind = "class" if first == "start" and source in classes else "concept"
            elements.link(elements.add(source, kind), elements.add(target), weight, description)

    name, class_name = row.get("concept"), row.get("class")
    if isinstance(name, str) and isinstance(class_name, str):
        elements.link(elements.add(class_name, "class"), elements.add(name), weight, description)
    elif isinstance(name, str) and "neighbour" not in row and concept is not None:
        elements.link(elements.add(concept), elements.add(name), weight, description)


def picture_of(elements: Elements, classes: Sequence[str]) -> GraphPicture:
    """Place up to `MOST_NODES` nodes on rings around the one with most links.

    Classes, and links with them, have the colours that they have everywhere; concepts are neutral,
    and cliques are smaller and of a colour of their own.
    """
    ids = list(elements.nodes)[:MOST_NODES]
    found_nodes = [elements.nodes[node] for node in ids]
    row_of = dict(zip(ids, range(len(ids)), strict=True))
    links = {
        (row_of[source], row_of[target]): link
        for (source, target), link in elements.links.items()
        if source in row_of and target in row_of
    }

    # Two classes pull their concepts to the left and to the right; more classes have no sides.
    sides = dict(zip(sorted(classes), (-1.0, 1.0), strict=False)) if len(classes) == 2 else {}
    class_color = class_colors(classes)
    lean = [0.0] * len(ids)
    colors: list[str | None] = [None] * len(ids)
    for row, node in enumerate(found_nodes):
        if node.kind == "class":
            lean[row], colors[row] = sides.get(node.name, 0.0), class_color.get(node.name)

    ends = np.array(list(links), dtype=np.int64).reshape(-1, 2)
    degree = np.bincount(ends.ravel(), minlength=len(ids))
    sizes_px = node_sizes_px(degree + 1)
    label_px = label_widths_px([node.name for node in found_nodes])
    places = radial_layout(ends, lean, sizes_px, label_px)

    nodes = []
    for row, node in enumerate(found_nodes):
        x_px, y_px = places[row].tolist()
        is_clique = node.label == schema.CLIQUE.label
        nodes.append(
            GraphNode(
                id=ids[row],
                label=node.name,
                kind=node.kind,
                x_px=x_px,
                y_px=y_px,
                size_px=float(sizes_px[row] * (_CLIQUE_SCALE if is_clique else 1.0)),
                description=node.description,
                color=_CLIQUE_COLOR if is_clique else colors[row],
            )
        )
    edges = []
    widths_px = edge_widths_px([weight for weight, _ in links.values()]).tolist()
    for ((source, target), (_, text)), width_px in zip(links.items(), widths_px, strict=True):
        color = colors[source] or colors[target]
        edges.append(GraphEdge(ids[source], ids[target], width_px, description=text, color=color))
    return GraphPicture(nodes, edges, NEUTRAL, NEUTRAL)
