"""Radial layout of a neighbourhood: rings by distance, angle by class skew.

`cobalance.workflows.concept_graph.skew_layout` has the layout of a whole dataset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import networkx as nx
import numpy as np
import numpy.typing as npt

from cobalance.base.arrays import FloatArray
from cobalance.workflows.concept_graph.skew_layout import LABEL_HEIGHT_PX

_WIDER = 1.6  # a ring's width, as a multiple of its height: screens are wide, and so are labels
_FIRST_PX = 110.0  # half the height of the first ring, at least
_STEP_PX = 70.0  # between two rings, at least
_GAP_PX = 6.0  # between two nodes
_GROWTH = 1.06
_MOST_ROWS = 5  # rows into which a crowded ring may be staggered
_BESIDE_PX = 60.0  # from a node to one that is placed beside it, in height
_TURNS = np.deg2rad([0, 20, -20, 40, -40, 60, -60, 80, -80])  # away from straight on
_FAN = np.pi / 6  # the most that a node behind another may take of the circle


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
    placed = [
        (order, _place(order, children, lean, boxes)) for order, children in _trees(graph, centre)
    ]
    return np.round(_pack(placed, boxes), 2)


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
    at = np.asarray(placed, dtype=np.float64).reshape(-1, 2)
    graph: nx.Graph[int] = nx.Graph(np.asarray(links, dtype=np.int64).reshape(-1, 2).tolist())
    for node in range(len(at), len(boxes.above)):
        near = min(graph[node], default=0) if node in graph else 0
        at = np.vstack([at, _beside(at, near if near < node else 0, boxes)])
    return np.round(at, 2)


def _beside(at: FloatArray, near: int, boxes: "_Boxes") -> FloatArray:
    """The first free place for the next node, outwards from a node that has one."""
    node, others = len(at), np.arange(len(at))
    outwards = (at[near] - at[0]) / (_WIDER, 1)
    angle = np.arctan2(outwards[1], outwards[0]) + _TURNS
    directions = np.column_stack([_WIDER * np.cos(angle), np.sin(angle)])
    for step in count():
        tried = at[near] + (_BESIDE_PX + step * _BESIDE_PX / 3) * directions
        aside = np.abs(tried[:, None, 0] - at[None, :, 0])
        wide = boxes.half_width[others] + boxes.half_width[node] + _GAP_PX
        down = tried[:, None, 1] - at[None, :, 1]
        over = (down - boxes.above[node] < boxes.below[others] + _GAP_PX) & (
            -down - boxes.above[others] < boxes.below[node] + _GAP_PX
        )
        free = ~((aside < wide) & over).any(axis=1)
        if free.any():
            return np.asarray(tried[free.argmax()])
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

    def overlap(self, nodes: Sequence[int], at: FloatArray) -> bool:
        """Whether any two nodes overlap, or are closer than the gap."""
        wide = self.half_width[nodes]
        top, bottom = at[:, 1] - self.above[nodes], at[:, 1] + self.below[nodes]
        aside = np.abs(at[:, None, 0] - at[None, :, 0]) < wide[:, None] + wide + _GAP_PX
        over = (top[:, None] < bottom + _GAP_PX) & (top < bottom[:, None] + _GAP_PX)
        return int((aside & over).sum()) > len(nodes)  # each with itself


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
    at = np.zeros((len(order), 2))
    inner = 0.0
    for ring in range(1, int(depth.max()) + 1):
        on_ring = np.flatnonzero(depth == ring)
        before = np.flatnonzero(depth < ring)
        least = _FIRST_PX if ring == 1 else inner + _STEP_PX
        inner = _fit_ring(order, at, angle, before, on_ring, least, boxes)
    return at


def _fit_ring(
    order: list[int],
    at: FloatArray,
    angle: FloatArray,
    before: npt.NDArray[np.intp],
    on_ring: npt.NDArray[np.intp],
    least_px: float,
    boxes: _Boxes,
) -> float:
    """Place a ring's nodes at the smallest size without overlap; return its outer radius."""
    nodes = [order[i] for i in (*before, *on_ring)]
    around = on_ring[np.argsort(angle[on_ring], kind="stable")]
    own = [order[i] for i in on_ring]
    high = (boxes.above + boxes.below)[own].max()
    row_px = max(high, 2 * boxes.half_width[own].max() / _WIDER) + _GAP_PX
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
            tried = np.column_stack(
                [_WIDER * reach * np.cos(angle[on_ring]), reach * np.sin(angle[on_ring])]
            )
            if not boxes.overlap(nodes, np.concatenate([at[before], tried])):
                best = outer, tried
                break
            radius *= _GROWTH
    assert best is not None  # noqa: S101 - one row has no bound, and grows until it fits
    at[on_ring] = best[1]
    return best[0]


def _angles(
    order: list[int], children: Children, lean: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Angle and ring of every node of one part; 0 is to the right, and y points down."""
    leaves = dict.fromkeys(order, 1)
    for node in reversed(order):
        leaves[node] = max(1, sum(leaves[child] for child in children.get(node, ())))
    row_of = {node: row for row, node in enumerate(order)}
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


def _pack(placed: list[tuple[list[int], FloatArray]], boxes: _Boxes) -> FloatArray:
    """Arrange the parts in rows, twice as wide as high in all."""
    positions = np.empty((len(boxes.above), 2))
    sizes = []
    for members, at in placed:
        wide = boxes.half_width[members]
        low = (at - np.column_stack([wide, boxes.above[members]])).min(axis=0)
        positions[members] = at - low
        sizes.append((at + np.column_stack([wide, boxes.below[members]])).max(axis=0) - low)
    area = sum(float(size.prod()) for size in sizes)
    line_px = max(2 * area**0.5, max((float(size[0]) for size in sizes), default=0.0))
    x = y = line_height = 0.0
    for (members, _), size in zip(placed, sizes, strict=True):
        if x > 0 and x + size[0] > line_px:
            x, y, line_height = 0.0, y + line_height + 4 * _GAP_PX, 0.0
        positions[members] += (x, y)
        x += size[0] + 4 * _GAP_PX
        line_height = max(line_height, float(size[1]))
    return positions
