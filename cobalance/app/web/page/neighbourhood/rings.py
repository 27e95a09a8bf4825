"""Draw a neighbourhood around its centre, and list its links."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, group_pairs, positions_of
from cobalance.graph import Kind, Neighbourhood, class_counts
from cobalance.statistics import skew
from cobalance.workflows import (
    Axis,
    GraphEdge,
    GraphNode,
    GraphPicture,
    class_colors,
    descriptions,
    edge_widths_px,
    grow_layout,
    label_widths_px,
    node_id,
    node_sizes_px,
    radial_layout,
)

MOST_NODES = 150
_CLASS_PX = 44.0


def picture_of(
    neighbourhood: Neighbourhood, axis: Axis, expanded: Sequence[str] = ()
) -> GraphPicture:
    """Place a neighbourhood around its centre, coloured by how its nodes lean.

    Only the first `MOST_NODES` nodes are drawn. The centre's neighbours are on rings; those of the
    expanded concepts, in the order of these, are where there is room, so that nothing moves when
    one more is expanded.
    """
    nodes = neighbourhood.nodes.head(MOST_NODES)
    ids = list(map(node_id, nodes["name"], nodes["kind"]))
    row_of = positions_of(ids)
    edges, ends = _edges_between(neighbourhood.edges, row_of)

    lean = _lean_of_nodes(nodes, neighbourhood, axis)
    expanded_rows = [row_of[node] for node in map(node_id, expanded) if node in row_of]
    stages = _stages(len(nodes), ends, expanded_rows)
    places = _places(stages, ends, lean, nodes)

    # The colour of a concept is that of its skew, and a class has its own.
    colors = class_colors([*neighbourhood.class_sizes])
    texts, sizes_px = descriptions(nodes, neighbourhood.class_sizes), _sizes_px(nodes).tolist()
    drawn = []
    for row, (name, kind) in enumerate(zip(nodes["name"], nodes["kind"], strict=True)):
        x_px, y_px = places[row].tolist()
        drawn.append(
            GraphNode(
                id=ids[row],
                label=name,
                kind=kind,
                x_px=x_px,
                y_px=y_px,
                size_px=sizes_px[row],
                skew=float(lean[row]),
                description=texts[row],
                color=colors.get(name) if kind == "class" else None,
            )
        )

    skews = _lean_of_edges(edges, ends, lean, neighbourhood, axis).tolist()
    widths_px = edge_widths_px(edges["images"]).tolist()
    texts = descriptions(edges, neighbourhood.pair_class_sizes)
    links = [
        GraphEdge(ids[source], ids[target], width_px=width_px, skew=skew, description=text)
        for (source, target), width_px, skew, text in zip(
            ends, widths_px, skews, texts, strict=True
        )
    ]
    return GraphPicture(drawn, links, axis.left_color, axis.right_color)


def _stages(n: int, links: Sequence[tuple[int, int]], expanded: Sequence[int]) -> list[list[int]]:
    """Nodes by stage: the centre with its neighbours, then the neighbours of each expanded node."""
    backwards = [(end, start) for start, end in links]
    neighbours = group_pairs([*links, *backwards])
    first = [0, *sorted({*neighbours.get(0, [])} - {0})]
    stages, placed = [first], set(first)
    for node in expanded:
        stages.append(sorted({*neighbours.get(node, [])} - placed))
        placed.update(stages[-1])

    # Nodes that are no neighbours of these come with a chain.
    return [*stages, sorted(set(range(n)) - placed)]


def _places(
    stages: Sequence[Sequence[int]],
    links: Sequence[tuple[int, int]],
    lean: FloatArray,
    nodes: pd.DataFrame,
) -> FloatArray:
    """Lay out the stages one after the other, each as if there were none to come."""
    positions = np.zeros((0, 2))
    rows: list[int] = []
    for stage in stages:
        rows += stage
        code_of = positions_of(rows)
        ends = [
            (code_of[source], code_of[target])
            for source, target in links
            if source in code_of and target in code_of
        ]

        placed = nodes.iloc[rows]
        sizes, labels = _sizes_px(placed), label_widths_px(placed["name"])
        if len(positions):
            positions = grow_layout(positions, ends, sizes, labels)
        else:
            # Only links with the centre place its neighbours.
            star = [pair for pair in ends if 0 in pair]
            positions = radial_layout(star, lean[rows], sizes, labels, centre=0)

    # From the order of the stages to that of the nodes.
    places = np.empty_like(positions)
    places[rows] = positions
    return places


def _sizes_px(nodes: pd.DataFrame) -> FloatArray:
    is_class = (nodes["kind"] == "class").to_numpy()
    sizes = np.full(len(nodes), _CLASS_PX)
    sizes[~is_class] = node_sizes_px(nodes.loc[~is_class, "images"])
    return sizes


def _edges_between(
    edges: pd.DataFrame, row_of: dict[str, int]
) -> tuple[pd.DataFrame, list[tuple[int, int]]]:
    """The edges whose ends are drawn, and the positions of their ends."""
    sources = map(node_id, edges["source"], edges["source_kind"])
    targets = map(node_id, edges["target"])
    # -1 stands for a node that is not drawn.
    ends = [
        (row_of.get(source, -1), row_of.get(target, -1))
        for source, target in zip(sources, targets, strict=True)
    ]
    is_drawn = np.array([min(pair) >= 0 for pair in ends], dtype=bool)
    return edges[is_drawn], list(compress(ends, is_drawn))


def _lean_of_nodes(nodes: pd.DataFrame, neighbourhood: Neighbourhood, axis: Axis) -> FloatArray:
    """Skew of concepts; a class has that of its own side, or 0."""
    sizes = neighbourhood.class_sizes
    lean = np.nan_to_num(skew(class_counts(nodes), [*sizes.values()], *axis.codes([*sizes])))
    for row in np.flatnonzero(nodes["kind"] == "class"):
        # A class on both sides, as it is the only one, leans to neither.
        name = nodes["name"].iloc[row]
        lean[row] = float(name in axis.right) - float(name in axis.left)
    return lean


def _lean_of_edges(
    edges: pd.DataFrame,
    ends: list[tuple[int, int]],
    lean: FloatArray,
    neighbourhood: Neighbourhood,
    axis: Axis,
) -> FloatArray:
    """Skew of links; one from a class has that of its concept."""
    sizes = neighbourhood.pair_class_sizes
    of_pairs = np.nan_to_num(skew(class_counts(edges), [*sizes.values()], *axis.codes([*sizes])))
    of_targets = lean[[target for _, target in ends]]
    return np.where(edges["source_kind"] == "class", of_targets, of_pairs)


def links_table(
    kind: Kind, centre: str, expanded: Sequence[str], neighbourhood: Neighbourhood, axis: Axis
) -> pd.DataFrame:
    """The links as a table: from the node that brought them, the strongest first.

    Returns
    -------
    pandas.DataFrame
        ``from``, ``with``, ``images``, ``lean``, ``lift``, and ``rate <i>``, the share of class i
        that shows both, in percent. Missing where a pair was not counted by class.
    """
    edges = neighbourhood.edges
    is_of_class = (edges["source_kind"] == "class").to_numpy()

    # A link is from the end that was expanded first; one of a class is from the class.
    first = [centre] if kind == "concept" else []
    order = positions_of([*first, *expanded])
    source_places = edges["source"].map(order).fillna(len(order))
    target_places = edges["target"].map(order).fillna(len(order))
    is_swapped = ~is_of_class & (source_places > target_places).to_numpy()
    table = pd.DataFrame(
        {
            "from": np.where(is_swapped, edges["target"], edges["source"]),
            "with": np.where(is_swapped, edges["source"], edges["target"]),
            "images": edges["images"].to_numpy(),
        }
    )

    classes, sizes = list(neighbourhood.class_sizes), list(neighbourhood.class_sizes.values())
    pair_sizes = list(neighbourhood.pair_class_sizes.values())
    counts = class_counts(edges).copy()
    lean = skew(counts, pair_sizes, *axis.codes(classes))
    # Each link of a class has the counts of its concept.
    if is_of_class.any():
        targets = [("concept", name) for name in edges.loc[is_of_class, "target"]]
        concepts = neighbourhood.nodes.set_index(["kind", "name"]).loc[targets]
        counts[is_of_class] = class_counts(concepts)
        lean[is_of_class] = skew(counts[is_of_class], sizes, *axis.codes(classes))
    table["lean"] = lean
    table["lift"] = edges["lift"].to_numpy()

    totals = np.where(is_of_class[:, None], sizes, pair_sizes)
    rates = 100 * counts / np.maximum(totals, 1)
    columns = [f"rate {code}" for code in range(len(classes))]
    return table.join(pd.DataFrame(rates, columns=columns))
