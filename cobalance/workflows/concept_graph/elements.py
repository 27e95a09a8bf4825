"""Nodes and edges of a drawn graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A concept or class with its place and size.

    Parameters
    ----------
    id : str
        Used by edges, cliques and selections.
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


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A line between two nodes.

    Parameters
    ----------
    source, target : str
        Ids of its ends. The graph has no directions.
    skew, description, color
        As of `GraphNode`.
    """

    source: str
    target: str
    width_px: float
    skew: float = 0.0
    description: str = ""
    color: str | None = None


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
    """

    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
    left_color: str
    right_color: str
    axis_px: tuple[float, float] | None = None
    sizes: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GraphStep:
    """A picture as one of several steps, which a person goes back and forth between.

    `id` stands for it in a link, `name` is what people read. All have the same nodes and edges,
    whose numbers and texts differ; colours, axis and sizes are those of the first.
    """

    id: str
    name: str
    picture: GraphPicture
