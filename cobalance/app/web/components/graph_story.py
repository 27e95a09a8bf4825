"""The concept graph step by step: concepts move to the centre as images are added."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components.graph_choices import choose_axis, prefer_sides
from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import escape, shorten
from cobalance.graph import (
    DatasetState,
    Images,
    Overview,
    Step,
    StepId,
    read_overview,
    read_steps,
    with_images,
)
from cobalance.workflows import GraphStep, lay_out_steps

STEP = "step"  # the query parameter
MOST_CONCEPTS, MOST_EDGES = 40, 100
HEIGHT_PX = 480
NAMES: Mapping[StepId, str] = {
    "dataset": "Dataset",
    "plan": "With the plan",
    "accepted": "With accepted images",
    "after": "As rebalanced",
}


def draw_story(
    before: CurrentDataset,
    after: DatasetState | None,
    *,
    rebalanced: bool,
    numbers: Mapping[StepId, str] = MappingProxyType({}),
    sides: Sequence[str] = (),
) -> None:
    """Draw the steps from a dataset to its rebalanced version; nothing for a single step.

    `rebalanced`: whether `after` has the images of a job on `before`. `numbers` stand below the
    names of their steps; `sides` are the classes of the axis, unless others are chosen.
    """
    first = _read(before)
    after_name = None if after is None else after.name
    steps = read_steps(before.store, before.name, first, after_name)

    names = dict(NAMES)
    if after_name is not None and not rebalanced:
        names["after"] = shorten(after_name, 40)
    names |= {step: f"{names[step]}\n{text}" for step, text in numbers.items()}
    _draw_steps(before, steps, names, sides)


def draw_plan(current: CurrentDataset, images: Iterable[Images]) -> None:
    """Draw a dataset's graph without and with the images of a plan."""
    first = _read(current)
    planned = with_images(first, images)
    _draw_steps(current, [Step("dataset", first), Step("plan", planned)], NAMES)


def _read(current: CurrentDataset) -> Overview:
    return current.read(read_overview, max_concepts=MOST_CONCEPTS, max_edges=MOST_EDGES)


def _draw_steps(
    current: CurrentDataset,
    steps: list[Step],
    names: Mapping[StepId, str],
    sides: Sequence[str] = (),
) -> None:
    """Draw the steps, and the choice of the axis along which they are; nothing for a single one."""
    if len(steps) < 2 or steps[0].overview.concepts.empty:
        return
    place = st.container(key="_story_steps")
    prefer_sides(sides)
    axis = choose_axis(current)
    with place:
        _draw(lay_out_steps(steps, names, axis))

    left, right = escape(axis.left_name), escape(axis.right_name)
    st.caption(
        f"Left: more often in images of **{left}**; right: of **{right}**; on the line: equal "
        "rates. Drag the control, or press Play."
    )


@st.fragment
def _draw(steps: tuple[GraphStep, ...]) -> None:
    """Draw the graph, and keep its step in the URL without a run of the whole page."""
    chosen = concept_graph(
        steps,
        key="_story",
        step=st.query_params.get(STEP),
        height_px=HEIGHT_PX,
        label="Concepts between the classes that they lean to, step by step",
    )
    is_first = chosen.step in (None, steps[0].id)
    url.write(STEP, [] if is_first else [str(chosen.step)])
