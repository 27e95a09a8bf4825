"""Lay out the concept graph of a dataset between two classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.concept_graph.beeswarm import edge_widths_px, node_sizes_px, skew_axis_layout
from app.concept_graph.colors import NEUTRAL, class_colors
from app.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from graph.diagnosis.imbalance import COUNT
from graph.queries.neighbourhood import Kind
from graph.queries.overview import Overview

WIDTH_PX, HEIGHT_PX = 1200, 780
_MARGIN_PX = 70  # for the classes at both ends
_CHARACTER_PX, _LONGEST_LABEL = 6.5, 24
ALL_OTHERS = "all other classes"

_CONCEPT, _CLASS = "c:", "y:"


@dataclass(frozen=True)
class Axis:
    """The two sides between which concepts are placed: their classes, names and CSS colours."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    left_name: str
    right_name: str
    left_color: str
    right_color: str

    @classmethod
    def between(cls, classes: Sequence[str], left: str, right: str) -> "Axis":
        """The axis from one class to another, or to all others.

        Examples
        --------
        >>> Axis.between(["cat", "dog", "fox"], "dog", ALL_OTHERS).right
        ('cat', 'fox')
        """
        colors = class_colors(classes)
        if right == ALL_OTHERS:
            others = tuple(name for name in classes if name != left)
            return cls((left,), others, left, ALL_OTHERS, colors[left], NEUTRAL)
        return cls((left,), (right,), left, right, colors[left], colors[right])

    def codes(self, classes: Sequence[str]) -> tuple[list[int], list[int]]:
        """The two sides as positions in a list of classes, which may lack some."""
        left, right = (
            [code for code, name in enumerate(classes) if name in side]
            for side in (self.left, self.right)
        )
        return left, right


def node_id(name: str, kind: Kind = "concept") -> str:
    """Node id of a concept or class, distinct where both have one name."""
    return (_CONCEPT if kind == "concept" else _CLASS) + name


def label_widths_px(names: Iterable[str]) -> list[float]:
    """Widths of nodes' labels, about as the picture draws them."""
    return [_CHARACTER_PX * min(len(name), _LONGEST_LABEL) for name in names]


def concepts_of(nodes: Iterable[str]) -> list[str]:
    """The concepts among some node ids."""
    return [node.removeprefix(_CONCEPT) for node in nodes if node.startswith(_CONCEPT)]


def of_overview(
    overview: Overview, axis: Axis, width_px: float = WIDTH_PX, height_px: float = HEIGHT_PX
) -> GraphPicture:
    """Place the concepts of an overview along an axis, with their strongest links."""
    leaning = np.nan_to_num(overview.concept_skew(*axis.codes([*overview.class_sizes])))
    sizes_px = node_sizes_px(overview.concepts["images"])
    names = overview.concepts["concept"].tolist()
    positions = skew_axis_layout(
        leaning, sizes_px, label_widths_px(names), width_px=width_px, height_px=height_px
    )
    nodes = [
        GraphNode(node_id(name), name, "concept", x, y, size, lean, text)
        for name, (x, y), size, lean, text in zip(
            names,
            positions.tolist(),
            sizes_px.tolist(),
            leaning.tolist(),
            descriptions(overview.concepts, overview.class_sizes),
            strict=True,
        )
    ]
    for side, x, lean in (
        (axis.left_name, -_MARGIN_PX, -1.0),
        (axis.right_name, width_px + _MARGIN_PX, 1.0),
    ):
        nodes.append(GraphNode(node_id(side, "class"), side, "class", x, height_px / 2, 44.0, lean))
    edges = overview.edges
    pair_leaning = np.nan_to_num(overview.edge_skew(*axis.codes([*overview.pair_class_sizes])))
    links = [
        GraphEdge(node_id(one), node_id(other), width, lean, text)
        for one, other, width, lean, text in zip(
            edges["concept_1"].tolist(),
            edges["concept_2"].tolist(),
            edge_widths_px(edges["images"]).tolist(),
            pair_leaning.tolist(),
            descriptions(edges, overview.pair_class_sizes),
            strict=True,
        )
    ]
    return GraphPicture(nodes, links, axis.left_color, axis.right_color)


def descriptions(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> list[str]:
    """Tooltip texts: images in total and in each counted class."""
    lines = [[f"{images:,} images"] for images in frame["images"]]
    for name, size in class_sizes.items():
        for text, count in zip(lines, frame[COUNT + name].tolist(), strict=True):
            if count == count and count is not None:
                text.append(f"{name}: {int(count):,} of {size:,} ({count / max(size, 1):.1%})")
    return ["\n".join(text) for text in lines]
