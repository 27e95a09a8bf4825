"""Draw a neighbourhood around its centre, and list its links."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cobalance.base.arrays import FloatArray
from cobalance.base.grouping import group_pairs
from cobalance.graph.queries.concept_counts import class_counts
from cobalance.graph.queries.neighbourhood import Kind, Neighbourhood
from cobalance.statistics.contrasts import skew
from cobalance.workflows.concept_graph.colors import class_colors
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from cobalance.workflows.concept_graph.overview import Axis, descriptions, label_widths_px, node_id
from cobalance.workflows.concept_graph.radial import grow_layout, radial_layout
from cobalance.workflows.concept_graph.skew_layout import edge_widths_px, node_sizes_px

MOST_NODES = 150
_CLASS_PX = 44.0


def picture_of(found: Neighbourhood, axis: Axis, expanded: Sequence[str] = ()) -> GraphPicture:
    """Place a neighbourhood around its centre, coloured by how its nodes lean.

    Only the first `MOST_NODES` nodes are drawn. The centre's neighbours are on rings; those of the
    expanded concepts, in the order of these, are where there is room, so that nothing moves when
    one more is expanded.
    """
    nodes = found.nodes.head(MOST_NODES)
    ids = [node_id(name, kind) for name, kind in zip(nodes["name"], nodes["kind"], strict=True)]
    code_of = {node: code for code, node in enumerate(ids)}
    lean = _lean_of_nodes(nodes, found, axis)
    sizes_px = _sizes_px(nodes)
    edges, ends = _edges_between(found.edges, code_of)
    order = [code_of[node] for node in map(node_id, expanded) if node in code_of]
    places = _places(_stages(len(nodes), ends, order), ends, lean, nodes)
    texts = descriptions(nodes, found.class_sizes)
    colors = class_colors([*found.class_sizes])
    drawn = [
        GraphNode(
            node,
            name,
            kind,
            x,
            y,
            size,
            side,
            text,
            color=colors.get(name) if kind == "class" else None,
        )
        for node, name, kind, (x, y), size, side, text in zip(
            ids,
            nodes["name"],
            nodes["kind"],
            places.tolist(),
            sizes_px.tolist(),
            lean.tolist(),
            texts,
            strict=True,
        )
    ]
    links = [
        GraphEdge(ids[a], ids[b], width, side, text)
        for (a, b), width, side, text in zip(
            ends,
            edge_widths_px(edges["images"]).tolist(),
            _lean_of_edges(edges, ends, lean, found, axis).tolist(),
            descriptions(edges, found.pair_class_sizes),
            strict=True,
        )
    ]
    return GraphPicture(drawn, links, axis.left_color, axis.right_color)


def _stages(n: int, links: Sequence[tuple[int, int]], expanded: Sequence[int]) -> list[list[int]]:
    """Nodes by stage: the centre with its neighbours, then the neighbours of each expanded node."""
    backwards = [(end, start) for start, end in links]
    neighbours = group_pairs([*links, *backwards])
    stages, seen = [[0, *sorted({*neighbours.get(0, [])} - {0})]], {0}
    seen.update(stages[0])
    for node in expanded:
        stages.append(sorted({*neighbours.get(node, [])} - seen))
        seen.update(stages[-1])
    return [*stages, sorted(set(range(n)) - seen)]  # last what a chain brings


def _places(
    stages: Sequence[Sequence[int]],
    links: Sequence[tuple[int, int]],
    lean: FloatArray,
    nodes: pd.DataFrame,
) -> FloatArray:
    """Lay out the stages one after the other, each as if there were none to come."""
    places = np.zeros((0, 2))
    shown: list[int] = []
    for stage in stages:
        shown += stage
        code_of = {node: code for code, node in enumerate(shown)}
        some = nodes.iloc[shown]
        ends = [(code_of[a], code_of[b]) for a, b in links if a in code_of and b in code_of]
        sizes, labels = _sizes_px(some), label_widths_px(some["name"])
        if len(places):
            places = grow_layout(places, ends, sizes, labels)
        else:
            star = [pair for pair in ends if 0 in pair]
            places = radial_layout(star, lean[shown], sizes, labels, centre=0)
    found = np.empty_like(places)
    found[shown] = places
    return found


def _sizes_px(nodes: pd.DataFrame) -> FloatArray:
    is_class = (nodes["kind"] == "class").to_numpy()
    sizes = np.full(len(nodes), _CLASS_PX)
    sizes[~is_class] = node_sizes_px(nodes.loc[~is_class, "images"])
    return sizes


def _edges_between(
    edges: pd.DataFrame, code_of: dict[str, int]
) -> tuple[pd.DataFrame, list[tuple[int, int]]]:
    """The edges whose ends are drawn, and the positions of their ends."""
    ends = [
        (code_of.get(node_id(source, kind), -1), code_of.get(node_id(target), -1))
        for kind, source, target in zip(
            edges["source_kind"], edges["source"], edges["target"], strict=True
        )
    ]
    kept = np.array([min(pair) >= 0 for pair in ends], dtype=bool)
    return edges[kept], [pair for pair in ends if min(pair) >= 0]


def _lean_of_nodes(nodes: pd.DataFrame, found: Neighbourhood, axis: Axis) -> FloatArray:
    """Skew of concepts; a class has that of its own side, or 0."""
    sizes = found.class_sizes
    lean = np.nan_to_num(skew(class_counts(nodes), [*sizes.values()], *axis.codes([*sizes])))
    for position in np.flatnonzero(nodes["kind"] == "class"):
        name = nodes["name"].iloc[position]
        lean[position] = (name in axis.right) - float(name in axis.left)
    return lean


def _lean_of_edges(
    edges: pd.DataFrame,
    ends: list[tuple[int, int]],
    lean: FloatArray,
    found: Neighbourhood,
    axis: Axis,
) -> FloatArray:
    """Skew of links; one from a class has that of its concept."""
    sizes = found.pair_class_sizes
    of_pairs = np.nan_to_num(skew(class_counts(edges), [*sizes.values()], *axis.codes([*sizes])))
    of_targets = lean[[target for _, target in ends]]
    return np.where(edges["source_kind"] == "class", of_targets, of_pairs)


def links_table(
    kind: Kind, centre: str, expanded: Sequence[str], found: Neighbourhood, axis: Axis
) -> pd.DataFrame:
    """The links as a table: from the node that brought them, the strongest first.

    Returns
    -------
    pandas.DataFrame
        ``from``, ``with``, ``images``, ``lean``, ``lift``, and ``rate <i>``, the share of class i
        that shows both, in percent. Missing where a pair was not counted by class.
    """
    edges = found.edges
    first = [centre] if kind == "concept" else []
    order = {name: place for place, name in enumerate([*first, *expanded])}
    far = len(order)
    swapped = [
        source_kind == "concept" and order.get(source, far) > order.get(target, far)
        for source_kind, source, target in zip(
            edges["source_kind"], edges["source"], edges["target"], strict=True
        )
    ]
    shown = pd.DataFrame(
        {
            "from": np.where(swapped, edges["target"], edges["source"]),
            "with": np.where(swapped, edges["source"], edges["target"]),
            "images": edges["images"].to_numpy(),
        }
    )
    classes, sizes = list(found.class_sizes), list(found.class_sizes.values())
    counts, of_pairs = class_counts(edges).copy(), [*found.pair_class_sizes.values()]
    lean = skew(counts, of_pairs, *axis.codes(classes))
    of_class = (edges["source_kind"] == "class").to_numpy()
    if of_class.any():
        targets = [("concept", name) for name in edges.loc[of_class, "target"]]
        counts[of_class] = class_counts(found.nodes.set_index(["kind", "name"]).loc[targets])
        lean[of_class] = skew(counts[of_class], sizes, *axis.codes(classes))
    shown["lean"] = lean
    shown["lift"] = edges["lift"].to_numpy()
    rates = 100 * counts / np.maximum(np.where(of_class[:, None], sizes, of_pairs), 1)
    return shown.join(pd.DataFrame(rates, columns=[f"rate {code}" for code in range(len(classes))]))
