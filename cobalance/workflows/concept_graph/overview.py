"""Lay out the concept graph of a dataset between two classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base.arrays import FloatArray
from cobalance.graph.queries.neighbourhood import Kind
from cobalance.graph.queries.overview import Overview
from cobalance.graph.queries.steps import Step, StepId
from cobalance.statistics.imbalance import COUNT
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture, GraphStep
from cobalance.workflows.concept_graph.skew_layout import (
    axis_x_px,
    edge_widths_px,
    node_sizes_px,
    skew_layout,
)

WIDTH_PX, HEIGHT_PX = 1200, 780
CLASS_PX = 30.0  # height of the classes below both ends of the axis
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
    images = np.array([one.concepts["images"].astype(float) for one in overviews])
    leaning = _forward_fill(
        [one.concept_skew(*axis.codes([*one.class_sizes])) for one in overviews]
    )
    sizes_px = node_sizes_px(_forward_fill(images))
    positions, share = skew_layout(
        leaning, sizes_px.max(axis=0), width_px=width_px, height_px=height_px
    )
    widths_px = edge_widths_px(
        _forward_fill([one.edges["images"].to_numpy(dtype=float) for one in overviews])
    )
    pair_leaning = _forward_fill(
        [one.edge_skew(*axis.codes([*one.pair_class_sizes])) for one in overviews]
    )
    ends_px = axis_x_px([-1, 1], width_px).tolist()
    y = height_px + CLASS_PX
    classes = [
        GraphNode(node_id(side, "class"), side, "class", x, y, CLASS_PX, lean)
        for side, x, lean in zip(
            (axis.left_name, axis.right_name), ends_px, (-1.0, 1.0), strict=True
        )
    ]
    key = _key(round(np.nanmax(images)), share) if images.size else ()
    pictures = []
    for step, overview in enumerate(overviews):
        names = overview.concepts["concept"].tolist()
        nodes = [
            GraphNode(node_id(name), name, "concept", x, y, size, lean, text, absent)
            for name, (x, y), size, lean, text, absent in zip(
                names,
                positions[step].tolist(),
                (share * sizes_px[step]).tolist(),
                leaning[step].tolist(),
                descriptions(overview.concepts, overview.class_sizes),
                np.isnan(images[step]).tolist(),
                strict=True,
            )
        ]
        edges = overview.edges
        links = [
            GraphEdge(node_id(one), node_id(other), width, lean, text)
            for one, other, width, lean, text in zip(
                edges["concept_1"].tolist(),
                edges["concept_2"].tolist(),
                widths_px[step].tolist(),
                pair_leaning[step].tolist(),
                descriptions(edges, overview.pair_class_sizes),
                strict=True,
            )
        ]
        pictures.append(
            GraphPicture(
                [*nodes, *classes],
                links,
                axis.left_color,
                axis.right_color,
                axis_px=(ends_px[0], ends_px[1]),
                sizes=key,
            )
        )
    return pictures


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
    shown = [n for n in (most, most // 4) if n]
    sizes = node_sizes_px([most, *shown])[1:] * share
    return tuple((size, f"{n:,}") for n, size in zip(shown, sizes.tolist(), strict=True))


def descriptions(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> list[str]:
    """Tooltip texts: images in total and in each counted class."""
    lines = [
        [f"{images:,.0f} images" if images == images else "not in this dataset"]
        for images in frame["images"]
    ]
    for name, size in class_sizes.items():
        for text, count in zip(lines, frame[COUNT + name].tolist(), strict=True):
            if count == count and count is not None:
                text.append(f"{name}: {int(count):,} of {size:,} ({count / max(size, 1):.1%})")
    return ["\n".join(text) for text in lines]
