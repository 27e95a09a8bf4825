"""Radial layout of a neighbourhood: rings by distance, angle by class skew.

`cobalance.workflows.concept_graph.skew_layout` has the layout of a whole dataset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import networkx as nx
import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, positions_of
from cobalance.workflows.concept_graph.skew_layout import LABEL_HEIGHT_PX

# A ring's width, as a multiple of its height: screens are wide, and so are labels.
_WIDER = 1.6
# Half the height of the first ring, at least.
_FIRST_PX = 110.0
# Between two rings, at least.
_STEP_PX = 70.0
# Between two nodes.
_GAP_PX = 6.0
# From one size of a ring that is tried to the next.
_GROWTH = 1.06
# Rows into which a crowded ring may be staggered.
_MOST_ROWS = 5
# From a node to one that is placed beside it, in height.
_BESIDE_PX = 60.0
# Directions that are tried, away from straight on.
_TURNS = np.deg2rad([0, 20, -20, 40, -40, 60, -60, 80, -80])
# The most that a node behind another may take of the circle.
_FAN = np.pi / 6


def radial_layout(
    links: npt.ArrayLike,
    skew: npt.ArrayLike,
    sizes_px: npt.ArrayLike,
    label_widths_px: npt.ArrayLike,
    *,
    centre: int | None = None,
) -> FloatArray:
    """Place nodes on rings around a centre, by their distance in links.

    A node is a circle with one line of label below it. Nodes that lean to the left class are on
    the left of a ring, those that lean to the right class on the right; a node of the next ring is
    behind its neighbour.

    Parameters
    ----------
    links : int array, shape (n_links, 2)
        Pairs of nodes. Of several neighbours on the ring before, a node is behind the first.
    skew : array, shape (n,)
        From `cobalance.statistics.contrasts.skew`; NaN counts as 0.
    sizes_px : array, shape (n,)
        Diameters of the circles.
    label_widths_px : array, shape (n,)
        Widths of the labels.
    centre : int, optional
        The node in the middle of its part of the graph. By default, and in all other parts, it is
        the node with most links.

    Returns
    -------
    float64 array, shape (n, 2)
        x to the right and y downwards, of the circles' centres, from 0. Circles and labels do not
        overlap. Unconnected parts are arranged in rows, the centre's part first.

    Notes
    -----
    Rings are ellipses, each as small as its nodes allow; a crowded one is staggered in rows if that
    makes the picture smaller. O(n^2) for each of about ten sizes tried.

    Examples
    --------
    >>> radial_layout([[0, 1], [0, 2]], [0, -1, 1], [20, 20, 20], [40, 40, 40]).tolist()
    [[196.0, 10.0], [20.0, 10.0], [372.0, 10.0]]
    """
    lean = np.nan_to_num(np.asarray(skew, dtype=np.float64))
    boxes = _Boxes.of(sizes_px, label_widths_px)
    pairs = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(lean)))
    graph.add_edges_from(pairs[pairs[:, 0] != pairs[:, 1]].tolist())

    parts = []
    for order, children in _trees(graph, centre):
        parts.append((order, _place(order, children, lean, boxes)))
    return np.round(_pack(parts, boxes), 2)


def grow_layout(
    placed: npt.ArrayLike,
    links: npt.ArrayLike,
    sizes_px: npt.ArrayLike,
    label_widths_px: npt.ArrayLike,
) -> FloatArray:
    """Add nodes to a layout around the placed ones, which stay.

    Parameters
    ----------
    placed : array, shape (n_placed, 2)
        Places of the first nodes, one or more; the first is the middle.
    links : int array, shape (n_links, 2)
        Pairs of nodes. A node goes beside the first of its neighbours that has a place, away from
        the middle.
    sizes_px, label_widths_px : array, shape (n,)
        As in `radial_layout`, of all nodes.

    Returns
    -------
    float64 array, shape (n, 2)
        Those of the others do not overlap anything. O(n^2) for each of some tens of places tried.

    Examples
    --------
    >>> grow_layout([[0, 0], [176, 0]], [[0, 1], [1, 2]], [20] * 3, [40] * 3).tolist()
    [[0.0, 0.0], [176.0, 0.0], [272.0, 0.0]]
    """
    boxes = _Boxes.of(sizes_px, label_widths_px)
    positions = np.asarray(placed, dtype=np.float64).reshape(-1, 2)
    graph: nx.Graph[int] = nx.Graph(np.asarray(links, dtype=np.int64).reshape(-1, 2).tolist())

    for node in range(len(positions), len(boxes.above)):
        neighbour = min(graph[node], default=0) if node in graph else 0
        # A neighbour that comes later has no place yet.
        if neighbour >= node:
            neighbour = 0
        positions = np.vstack([positions, _beside(positions, neighbour, boxes)])
    return np.round(positions, 2)


def _beside(positions: FloatArray, neighbour: int, boxes: "_Boxes") -> FloatArray:
    """The first free place for the next node, outwards from a node that has one."""
    node, others = len(positions), np.arange(len(positions))
    outwards = (positions[neighbour] - positions[0]) / (_WIDER, 1)
    angle = np.arctan2(outwards[1], outwards[0]) + _TURNS
    directions = np.column_stack([_WIDER * np.cos(angle), np.sin(angle)])

    for step in count():
        candidates = positions[neighbour] + (_BESIDE_PX + step * _BESIDE_PX / 3) * directions
        across = np.abs(candidates[:, None, 0] - positions[None, :, 0])
        is_beside = across >= boxes.half_width[others] + boxes.half_width[node] + _GAP_PX
        down = candidates[:, None, 1] - positions[None, :, 1]
        is_below = down - boxes.above[node] >= boxes.below[others] + _GAP_PX
        is_above = -down - boxes.above[others] >= boxes.below[node] + _GAP_PX
        is_free = (is_beside | is_below | is_above).all(axis=1)
        if is_free.any():
            return np.asarray(candidates[is_free.argmax()])
    raise AssertionError("there is always room further out")


@dataclass(frozen=True)
class _Boxes:
    """Extent of each node: half its width, and its reach above and below the centre."""

    half_width: FloatArray
    above: FloatArray
    below: FloatArray

    @classmethod
    def of(cls, sizes_px: npt.ArrayLike, label_widths_px: npt.ArrayLike) -> "_Boxes":
        sizes = np.asarray(sizes_px, dtype=np.float64)
        labels = np.asarray(label_widths_px, dtype=np.float64)
        return cls(np.maximum(sizes, labels) / 2, sizes / 2, sizes / 2 + LABEL_HEIGHT_PX)

    def overlap(self, nodes: Sequence[int], positions: FloatArray) -> bool:
        """Whether any two nodes overlap, or are closer than the gap."""
        x, y = positions[:, 0], positions[:, 1]
        half_width = self.half_width[nodes]
        top, bottom = y - self.above[nodes], y + self.below[nodes]
        across = np.abs(x[:, None] - x) < half_width[:, None] + half_width + _GAP_PX
        down = (top[:, None] < bottom + _GAP_PX) & (top < bottom[:, None] + _GAP_PX)
        # Each overlaps with itself.
        return int((across & down).sum()) > len(nodes)


Children = dict[int, list[int]]


def _trees(graph: "nx.Graph[int]", centre: int | None) -> Iterator[tuple[list[int], Children]]:
    """Breadth-first tree of each connected part: its nodes by distance, and their children."""
    by_links = sorted(graph, key=lambda node: -graph.degree[node])
    seen: set[int] = set()
    for root in by_links if centre is None else [centre, *by_links]:
        if root not in seen:
            children = dict(nx.bfs_successors(graph, root))
            order = [root, *chain.from_iterable(children.values())]
            seen.update(order)
            yield order, children


def _place(order: list[int], children: Children, lean: FloatArray, boxes: _Boxes) -> FloatArray:
    """Positions of one part, its root at the origin, in the order of its nodes."""
    angle, depth = _angles(order, children, lean)
    positions = np.zeros((len(order), 2))
    radius = 0.0

    for ring in range(1, int(depth.max()) + 1):
        on_ring = np.flatnonzero(depth == ring)
        inside = np.flatnonzero(depth < ring)
        least = _FIRST_PX if ring == 1 else radius + _STEP_PX
        radius = _fit_ring(order, positions, angle, inside, on_ring, least, boxes)
    return positions


def _fit_ring(
    order: list[int],
    positions: FloatArray,
    angle: FloatArray,
    inside: npt.NDArray[np.intp],
    on_ring: npt.NDArray[np.intp],
    least_px: float,
    boxes: _Boxes,
) -> float:
    """Place a ring's nodes at the smallest size without overlap; return its outer radius."""
    ids = np.array(order)
    nodes = ids[[*inside, *on_ring]].tolist()
    ring_nodes = ids[on_ring]
    height = (boxes.above + boxes.below)[ring_nodes].max()
    row_px = max(height, 2 * boxes.half_width[ring_nodes].max() / _WIDER) + _GAP_PX
    around = on_ring[np.argsort(angle[on_ring], kind="stable")]

    best: tuple[float, FloatArray] | None = None
    for rows in range(1, min(_MOST_ROWS, len(on_ring)) + 1):
        offset = np.zeros(len(order))
        offset[around] = np.arange(len(around)) % rows * row_px
        radius = least_px
        while True:
            outer = radius + (rows - 1) * row_px
            if best is not None and outer >= best[0]:
                break
            reach = radius + offset[on_ring]
            x, y = _WIDER * reach * np.cos(angle[on_ring]), reach * np.sin(angle[on_ring])
            candidate = np.column_stack([x, y])
            if not boxes.overlap(nodes, np.concatenate([positions[inside], candidate])):
                best = outer, candidate
                break
            radius *= _GROWTH

    assert best is not None  # noqa: S101 - one row has no bound, and grows until it fits
    outer, positions[on_ring] = best
    return outer


def _angles(
    order: list[int], children: Children, lean: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Angle and ring of every node of one part; 0 is to the right, and y points down."""
    # A node's wedge is as wide as the leaves behind it are many.
    leaves = dict.fromkeys(order, 1)
    for node in reversed(order):
        leaves[node] = max(1, sum(leaves[child] for child in children.get(node, ())))

    row_of = positions_of(order)
    angle = np.zeros(len(order))
    depth = np.zeros(len(order), dtype=np.int64)

    root = order[0]
    wedges = {root: (0.0, 2 * np.pi)}
    for node in order:
        start, width = wedges[node]
        behind = sorted(children.get(node, ()), key=lambda child: (float(lean[child]), child))
        if node == root and behind:
            # Around from the left over the top, skew rises, then falls. The wedge of the node with
            # the smallest skew is centred on the left.
            behind = [behind[0], *behind[1::2], *behind[2::2][::-1]]
            start = np.pi - width * leaves[behind[0]] / leaves[node] / 2
        elif behind:
            fan = min(width, _FAN * leaves[node])
            start, width = start + (width - fan) / 2, fan

        for child in behind:
            share = width * leaves[child] / leaves[node]
            wedges[child] = start, share
            angle[row_of[child]] = (start + share / 2) % (2 * np.pi)
            depth[row_of[child]] = depth[row_of[node]] + 1
            start += share
    return angle, depth


def _pack(parts: list[tuple[list[int], FloatArray]], boxes: _Boxes) -> FloatArray:
    """Arrange the parts in rows, twice as wide as high in all."""
    positions = np.empty((len(boxes.above), 2))
    sizes = []
    for nodes, part_positions in parts:
        half_width = boxes.half_width[nodes]
        top_left = part_positions - np.column_stack([half_width, boxes.above[nodes]])
        bottom_right = part_positions + np.column_stack([half_width, boxes.below[nodes]])
        corner = top_left.min(axis=0)
        positions[nodes] = part_positions - corner
        sizes.append(bottom_right.max(axis=0) - corner)

    area = sum(float(size.prod()) for size in sizes)
    line_px = max(2 * area**0.5, max((float(size[0]) for size in sizes), default=0.0))

    x = y = line_height = 0.0
    for (nodes, _), size in zip(parts, sizes, strict=True):
        if x > 0 and x + size[0] > line_px:
            x, y, line_height = 0.0, y + line_height + 4 * _GAP_PX, 0.0
        positions[nodes] += (x, y)
        x += size[0] + 4 * _GAP_PX
        line_height = max(line_height, float(size[1]))
    return positions
