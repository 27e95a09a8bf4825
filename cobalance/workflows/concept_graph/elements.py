"""Nodes and edges of a drawn graph, checked when they are made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Literal

_COLOR = re.compile(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A concept or class with its place and size.

    Parameters
    ----------
    id : str
        Used by edges, cliques and selections.
    label : str
        Its name; any text, cut if it is long.
    kind : {"concept", "class"}
        A disc with its name beside it, or a rounded rectangle with its name in white.
    x_px, y_px : float
        Centre. Both axes are scaled to the room that the browser has, each by itself.
    size_px : float
        Diameter of a disc, height of a rectangle.
    skew : float
        From -1 (the left colour) over 0 (grey) to +1 (the right colour).
    description : str
        Text of the tooltip, below the name; line breaks are kept.
    absent : bool
        Whether to draw it faint, as what is not there at one of several steps.
    color : str or None
        A colour of its own, as ``#rrggbb``, in place of that of its skew.

    Raises
    ------
    ValueError
        A number or a colour that cannot be drawn, or a kind that is not known.
    """

    id: str
    label: str
    kind: Literal["concept", "class"]
    x_px: float
    y_px: float
    size_px: float
    skew: float = 0.0
    description: str = ""
    absent: bool = False
    color: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("concept", "class"):
            raise ValueError(f"node {self.id!r}: kind is {self.kind!r}, not 'concept' or 'class'.")
        if not (isfinite(self.x_px) and isfinite(self.y_px)):
            raise ValueError(
                f"node {self.id!r}: its position ({self.x_px}, {self.y_px}) is not finite."
            )
        _check_size(f"node {self.id!r}: size_px", self.size_px)
        _check_skew(f"node {self.id!r}", self.skew)
        _check_color(self.color or "#000")


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A line between two nodes.

    Parameters
    ----------
    source, target : str
        Ids of its ends. The graph has no directions.
    width_px : float
        Width of the line.
    skew : float
        From -1 (the left colour) over 0 (grey) to +1 (the right colour).
    description : str
        Text of the tooltip, below the two names.
    color : str or None
        A colour of its own, as ``#rrggbb``, in place of that of its skew.

    Raises
    ------
    ValueError
        A number that cannot be drawn.
    """

    source: str
    target: str
    width_px: float
    skew: float = 0.0
    description: str = ""
    color: str | None = None

    def __post_init__(self) -> None:
        name = f"edge {self.source!r} - {self.target!r}"
        _check_size(f"{name}: width_px", self.width_px)
        _check_skew(name, self.skew)
        _check_color(self.color or "#000")


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Nodes, edges and colours of a drawn graph.

    Parameters
    ----------
    nodes, edges : sequence
        The elements; each node id once, each edge between two of the nodes.
    left_color, right_color : str
        The colours of skew -1 and +1, as ``#rrggbb``.
    axis_px : tuple of float or None
        x of skew -1 and +1, where x means skew.
    sizes : tuple of (float, str)
        The key of sizes: diameters and the images that they stand for.

    Raises
    ------
    ValueError
        A node twice, an edge to a node that is not there, or a colour that is not one.
    """

    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
    left_color: str
    right_color: str
    axis_px: tuple[float, float] | None = None
    sizes: tuple[tuple[float, str], ...] = ()

    def __post_init__(self) -> None:
        known = {node.id for node in self.nodes}
        if len(known) < len(self.nodes):
            ids = [node.id for node in self.nodes]
            twice = next(id_ for position, id_ in enumerate(ids) if id_ in ids[:position])
            raise ValueError(f"node {twice!r} is in the picture twice.")
        for end in chain.from_iterable((edge.source, edge.target) for edge in self.edges):
            if end not in known:
                raise ValueError(f"an edge ends at {end!r}, which is not a node of the picture.")
        for color in (self.left_color, self.right_color):
            _check_color(color)


@dataclass(frozen=True, slots=True)
class GraphStep:
    """A picture as one of several steps, which a person goes back and forth between.

    Parameters
    ----------
    id : str
        Stands for the step where it is chosen, such as in a link.
    name : str
        What people read.
    picture : GraphPicture
        The graph at this step.
    """

    id: str
    name: str
    picture: GraphPicture


@dataclass(frozen=True, slots=True)
class GraphStory:
    """Steps of one graph: the same nodes and edges, whose numbers and texts differ.

    Parameters
    ----------
    steps : sequence of GraphStep
        At least one. Colours, axis and sizes are those of the first.

    Raises
    ------
    ValueError
        No step, two with one id, or steps with other nodes or edges than the first.
    """

    steps: Sequence[GraphStep]

    def __post_init__(self) -> None:
        if not self.steps or len({step.id for step in self.steps}) < len(self.steps):
            raise ValueError(f"a story of {len(self.steps)} steps: give 1 or more, each id once.")
        elements = [
            (
                [(node.id, node.kind) for node in step.picture.nodes],
                [(edge.source, edge.target) for edge in step.picture.edges],
            )
            for step in self.steps
        ]
        for step, found in zip(self.steps, elements, strict=True):
            if found != elements[0]:
                raise ValueError(f"step {step.id!r} has other nodes or edges than the first.")


def _check_size(name: str, size_px: float) -> None:
    if not (isfinite(size_px) and size_px > 0):
        raise ValueError(f"{name} is {size_px}, not a positive number.")


def _check_color(color: str) -> None:
    if not _COLOR.fullmatch(color):
        raise ValueError(f"the colour {color!r} is not written as #rrggbb.")


def _check_skew(name: str, skew: float) -> None:
    if not -1 <= skew <= 1:
        raise ValueError(f"{name}: skew is {skew}, not within [-1, 1].")
