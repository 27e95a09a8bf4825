"""Lay out the concept graph of a dataset between two classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import FloatArray
from cobalance.graph import Kind, Overview, Step, StepId
from cobalance.statistics import COUNT
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture, GraphStep
from cobalance.workflows.concept_graph.skew_layout import (
    axis_x_px,
    edge_widths_px,
    node_sizes_px,
    skew_layout,
)

WIDTH_PX, HEIGHT_PX = 1200, 780
CLASS_PX = 30.0
"""Height of the classes below both ends of the axis."""
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
        left = [code for code, name in enumerate(classes) if name in self.left]
        right = [code for code, name in enumerate(classes) if name in self.right]
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
    return of_overviews([overview], axis, width_px, height_px)[0]


def of_overviews(
    overviews: Sequence[Overview],
    axis: Axis,
    width_px: float = WIDTH_PX,
    height_px: float = HEIGHT_PX,
) -> list[GraphPicture]:
    """Place the concepts of an overview at each of several steps.

    A concept keeps its y, its x is its skew at that step, and one measure holds for all sizes and
    widths. What a step lacks stays where it was, and is marked as absent.

    Parameters
    ----------
    overviews : sequence of Overview
        At least one; all with the same concepts and edges in one order, of which a step lacks
        those with NaN images.
    """
    # One measure holds for all steps, so that sizes and widths can be compared between them.
    images = np.array([overview.concepts["images"].astype(float) for overview in overviews])
    sizes_px = node_sizes_px(_forward_fill(images))
    pair_images = [overview.edges["images"].to_numpy(dtype=float) for overview in overviews]
    widths_px = edge_widths_px(_forward_fill(pair_images))

    skews, pair_skews = [], []
    for overview in overviews:
        skews.append(overview.concept_skew(*axis.codes([*overview.class_sizes])))
        pair_skews.append(overview.edge_skew(*axis.codes([*overview.pair_class_sizes])))
    leaning, pair_leaning = _forward_fill(skews), _forward_fill(pair_skews)
    positions, share = skew_layout(
        leaning, sizes_px.max(axis=0), width_px=width_px, height_px=height_px
    )

    left_px, right_px = axis_x_px([-1, 1], width_px).tolist()
    classes = [
        _class_node(axis.left_name, left_px, height_px + CLASS_PX, -1.0),
        _class_node(axis.right_name, right_px, height_px + CLASS_PX, 1.0),
    ]
    key = _key(round(np.nanmax(images)), share) if images.size else ()

    pictures = []
    for step, overview in enumerate(overviews):
        nodes = _concept_nodes(overview, positions[step], share * sizes_px[step], leaning[step])
        picture = GraphPicture(
            nodes=[*nodes, *classes],
            edges=_links(overview, widths_px[step], pair_leaning[step]),
            left_color=axis.left_color,
            right_color=axis.right_color,
            axis_px=(left_px, right_px),
            sizes=key,
        )
        pictures.append(picture)
    return pictures


def _class_node(name: str, x_px: float, y_px: float, skew: float) -> GraphNode:
    return GraphNode(
        id=node_id(name, "class"),
        label=name,
        kind="class",
        x_px=x_px,
        y_px=y_px,
        size_px=CLASS_PX,
        skew=skew,
    )


def _concept_nodes(
    overview: Overview, positions: FloatArray, sizes_px: FloatArray, skews: FloatArray
) -> list[GraphNode]:
    """Concepts of a step with their places; absent where the step lacks them."""
    concepts = overview.concepts
    rows = zip(
        concepts["concept"].tolist(),
        positions.tolist(),
        sizes_px.tolist(),
        skews.tolist(),
        descriptions(concepts, overview.class_sizes),
        concepts["images"].isna().tolist(),
        strict=True,
    )
    return [
        GraphNode(
            id=node_id(name),
            label=name,
            kind="concept",
            x_px=x,
            y_px=y,
            size_px=size,
            skew=skew,
            description=description,
            absent=absent,
        )
        for name, (x, y), size, skew, description, absent in rows
    ]


def _links(overview: Overview, widths_px: FloatArray, skews: FloatArray) -> list[GraphEdge]:
    """Edges between the concepts of a step."""
    edges = overview.edges
    return list(
        map(
            GraphEdge,
            edges["concept_1"].map(node_id),
            edges["concept_2"].map(node_id),
            widths_px.tolist(),
            skews.tolist(),
            descriptions(edges, overview.pair_class_sizes),
        )
    )


def lay_out_steps(
    steps: Sequence[Step], names: Mapping[StepId, str], axis: Axis
) -> tuple[GraphStep, ...]:
    """Pictures of the steps of a concept graph, with the names that people read by their ids."""
    pictures = of_overviews([step.overview for step in steps], axis)
    return tuple(
        GraphStep(step.id, names[step.id], picture)
        for step, picture in zip(steps, pictures, strict=True)
    )


def _forward_fill(steps: npt.ArrayLike) -> FloatArray:
    """Forward-fill NaN from step to step; 0 before the first."""
    values = np.array(steps, dtype=np.float64)
    for before, now in pairwise(values):
        now[np.isnan(now)] = before[np.isnan(now)]
    return np.asarray(np.nan_to_num(values))


def _key(most: int, share: float) -> tuple[tuple[float, str], ...]:
    """Legend of sizes: circles for the most images, and for a quarter of them."""
    numbers = [n for n in (most, most // 4) if n]
    # All sizes are by the most images, so that they are measured beside the largest.
    sizes_px = node_sizes_px([most, *numbers])[1:] * share
    return tuple(zip(sizes_px.tolist(), map("{:,}".format, numbers), strict=True))


def descriptions(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> list[str]:
    """Tooltip texts: images in total and in each counted class."""
    texts = [
        "not in this dataset" if pd.isna(images) else f"{images:,.0f} images"
        for images in frame["images"]
    ]
    for name, size in class_sizes.items():
        for row, count in enumerate(frame[COUNT + name].tolist()):
            if not pd.isna(count):
                share = count / max(size, 1)
                texts[row] += f"\n{name}: {int(count):,} of {size:,} ({share:.1%})"
    return texts
