"""Controls of a plan: cliques, planner and limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import draw_options, imbalance_filters
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    in_url,
    names_of,
    number_in_url,
    url,
)
from cobalance.app.web.widgets import escape, in_app, meaning
from cobalance.base import IntArray, inflect, readable
from cobalance.counting import Cliques, Incidence
from cobalance.generation import (
    COUNTS,
    PLANNERS,
    WHOLE_IMAGES,
    FormField,
    Plan,
    PlannedImages,
    PlanOptions,
    PlanSizes,
    find_leaning,
    plan_of_images,
    run_planner,
)
from cobalance.graph import DatasetState, GraphStore, load_cliques
from cobalance.graph.database import schema
from cobalance.statistics import CliqueFilter, find_rows
from cobalance.workflows import Planned, budget_curve, compare_all, describe_leaning, read_named

SELECTED, BY_FILTER = "Selected", "By filter"


@dataclass(frozen=True)
class Choice:
    """The cliques to rebalance: these, or with None all that pass the filter."""

    cliques: tuple[url.Clique, ...] | None
    filter: CliqueFilter = field(default_factory=CliqueFilter)

    def rows(self, cliques: Cliques) -> IntArray:
        """Their rows in the table of all cliques, ascending."""
        if self.cliques is not None:
            rows = find_rows(cliques, self.cliques)
            return np.unique(rows[rows >= 0])
        # A concept of the dataset may be in no clique, and then nothing passes.
        if not set(self.filter.concepts) <= set(cliques.concepts):
            return np.zeros(0, dtype=np.int64)
        return self.filter.rows(cliques)


@dataclass(frozen=True)
class PlanRequest:
    """The inputs of a plan: the same request, in the same state, gives the same plan."""

    state: DatasetState
    choice: Choice
    planner: str
    options: PlanOptions
    planner_options: tuple[tuple[str, Any], ...] = ()

    def with_budget(self, budget: int | None) -> "PlanRequest":
        """The same within a budget; None for no limit."""
        return replace(self, options=replace(self.options, budget=budget))


def choose(current: CurrentDataset, cliques: Cliques, place: DeltaGenerator) -> PlanRequest:
    """Draw the controls but the budget in a place, and return the plan request."""
    selected = tuple(url.selected_cliques())
    with place:
        source = _choose_source(len(selected))
        choice = Choice(selected)
        if source == BY_FILTER:
            choice = _choose_by_filter(current, cliques)
        options_place = st.popover("Planner, sizes, limits", key="_plan_more")
    with options_place:
        planner = _choose_planner(current)
        options_model = PLANNERS[planner].options
        fields = [FormField(name, readable(name)) for name in options_model.model_fields]
        planner_options = draw_options(fields, options_model)

        if source == SELECTED:
            sizes = _sizes_of(selected, cliques)
        else:
            sizes = _choose_sizes(cliques, smallest=1 if planner == WHOLE_IMAGES else 2)
        purpose = "Images of one class for one set of concepts."
        cap = _limit("Most per query", "cap", "no limit", purpose)

    return PlanRequest(
        state=current.state,
        choice=choice,
        planner=planner,
        options=PlanOptions(*sizes, cap),
        planner_options=tuple(planner_options.items()),
    )


def choose_budget(planner: str) -> int | None:
    """Draw the field for the budget; None for the planner's own."""
    return _limit(
        "Budget",
        "budget",
        "as above" if planner == WHOLE_IMAGES else "no limit",
        "Images in all, spent first on what has evidence. Without one whole-images plans the "
        "first of the sizes above that halves the largest difference or ends one lean in ten, "
        "other planners as many as it takes.",
    )


def _choose_source(n_selected: int) -> str:
    """Draw whether the plan is for the selected cliques, or for all that pass a filter."""
    texts = {SELECTED: f"{SELECTED} ({n_selected:,})", BY_FILTER: BY_FILTER}
    return st.segmented_control(
        "Cliques to rebalance",
        list(texts),
        format_func=texts.__getitem__,
        default=SELECTED if n_selected else BY_FILTER,
        **in_url("plan_for"),
        required=True,
        label_visibility="collapsed",
    )


def _choose_planner(current: CurrentDataset) -> str:
    """Draw the choice of the planner, the usual one first."""
    # Whole images are planned after real ones, which a dataset of counts alone lacks.
    usual = COUNTS if images_at_hand(current) is None else WHOLE_IMAGES
    others = [name for name, _ in PLANNERS.items() if name != usual]

    purposes = [f"- **{name}**: {planner.purpose}" for name, planner in PLANNERS.items()]

    return st.selectbox(
        "Planner",
        [usual, *others],
        **choice_in_url("planner"),
        width=170,
        help="\n".join([f"{meaning('planner')}\n", *purposes]),
    )


def _sizes_of(selected: tuple[url.Clique, ...], cliques: Cliques) -> tuple[int, int]:
    """Sizes of the smallest and the largest selected clique."""
    largest = cliques.members.shape[1]
    sizes = [len(clique) for clique in selected if len(clique) <= largest]
    return min(sizes, default=1), max(sizes, default=largest)


def _choose_sizes(cliques: Cliques, smallest: int) -> tuple[int, int]:
    largest = cliques.members.shape[1]
    # Streamlit refuses a slider whose ends are one number.
    if largest == 1:
        return 1, 1
    return st.slider(
        "Sizes", 1, largest, (smallest, largest), **number_in_url("plan_sizes"), width=140
    )


def _choose_by_filter(current: CurrentDataset, cliques: Cliques) -> Choice:
    """Draw the filter of cliques; return all that pass it."""
    with st.popover("Which combinations", key="_plan_filter"):
        under = imbalance_filters.choose_class(cliques.classes)
        min_gap = st.number_input(
            "Gap of at least",
            0,
            value=0,
            **number_in_url("min_gap"),
            width=150,
            help=meaning("gap"),
        )
        max_q_value = imbalance_filters.choose_q_value()
        names = names_of(current, schema.CONCEPT)
        concepts = imbalance_filters.choose_concepts(names, placeholder="any")

    return Choice(None, CliqueFilter(under, tuple(sorted(concepts)), min_gap, max_q_value))


def _limit(label: str, key: str, without: str, purpose: str) -> int | None:
    """Draw a field for a number of images; None where no limit is typed."""
    return st.number_input(
        label,
        1,
        value=None,
        step=1,
        **number_in_url(key),
        placeholder=without,
        width=150,
        help=purpose,
    )


# Results are cached under the request alone: the cliques follow from its state. Images and tables
# of cliques are cached as they are, not as copies: the latter are tested once, see
# `clique_q_values`.
_BY_IMAGES: dict[str | type[Any], Callable[[Any], Any]] = {
    PlannedImages: lambda planned: planned.images.tobytes()
}


@st.cache_resource(show_spinner="Reading the cliques", max_entries=8)
def mined_cliques(_store: GraphStore, state: DatasetState) -> Cliques:
    """Read the cliques of a dataset as it is."""
    return load_cliques(_store, state.name)


@st.cache_resource(show_spinner="Reading the images", max_entries=8)
def _named_images(
    _store: GraphStore, state: DatasetState
) -> tuple[Incidence | None, Sequence[str]]:
    return read_named(_store, state)


def images_at_hand(current: CurrentDataset) -> Incidence | None:
    """The images that were mined, or a sample of them; None where there are counts alone."""
    images, _ = _named_images(current.store, current.state)
    return images


def show_of_images(
    current: CurrentDataset, names: Sequence[str]
) -> dict[str, tuple[str, frozenset[str]]]:
    """The class and the concepts of some of the images that were mined, by their ids."""
    images, ids = _named_images(current.store, current.state)
    contents: dict[str, tuple[str, frozenset[str]]] = {}
    if images is None:
        return contents

    for name in names:
        row = ids.index(name)
        codes = images.indices[images.indptr[row] : images.indptr[row + 1]]
        concepts = frozenset(images.concepts[code] for code in codes)
        contents[name] = images.classes[images.labels[row]], concepts
    return contents


@st.cache_data(show_spinner=False, max_entries=32)
def chosen_rows(_cliques: Cliques, request: PlanRequest) -> IntArray:
    """Rows of the cliques to rebalance."""
    return np.intersect1d(request.choice.rows(_cliques), request.options.rows(_cliques))


@st.cache_data(show_spinner="Planning", max_entries=64)
def plan_found(_current: CurrentDataset, _cliques: Cliques, request: PlanRequest) -> PlannedImages:
    """The planned images, and how good the planner knows them to be."""
    planner = PLANNERS.open(request.planner, dict(request.planner_options))
    images = images_at_hand(_current)
    return run_planner(_cliques, planner, request.options, request.choice.rows(_cliques), images)


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=_BY_IMAGES)
def plan_of(
    _current: CurrentDataset,
    _cliques: Cliques,
    planned: PlannedImages,
    request: PlanRequest,
    *,
    is_edited: bool = False,
) -> Planned:
    """The plan of some images, as a planner or a person has it, with its effect on the cliques."""
    plan = _plan_of(_current, _cliques, planned, request)
    # The planner's proof is of its own numbers.
    if is_edited:
        name = f"{request.planner}, edited by hand"
        plan = replace(plan, planner=name, proven=None, bound=None, note="")
    images = images_at_hand(_current)
    return Planned(plan, request.state, _cliques, chosen_rows(_cliques, request), images=images)


def _plan_of(
    current: CurrentDataset, cliques: Cliques, planned: PlannedImages, request: PlanRequest
) -> Plan:
    _, ids = _named_images(current.store, current.state)
    values = dict(request.planner_options)
    return plan_of_images(request.planner, request.options, values, cliques, planned, ids)


@st.cache_data(show_spinner="Comparing planners", max_entries=32)
def planners_compared(
    _current: CurrentDataset, _cliques: Cliques, request: PlanRequest
) -> pd.DataFrame:
    """Every planner and baseline for the same cliques within the same limits."""
    rows = chosen_rows(_cliques, request)
    options = _options_by_planner(request)
    return compare_all(
        _cliques, rows, request.options, options, images_at_hand(_current), (), in_app
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def sizes_of(_current: CurrentDataset, _cliques: Cliques, request: PlanRequest) -> PlanSizes:
    """Whole plans for a request within several budgets, each made once it is asked for."""

    def make(budget: int) -> Plan:
        within = request.with_budget(budget)
        return _plan_of(_current, _cliques, plan_found(_current, _cliques, within), within)

    return PlanSizes(make, _cliques, chosen_rows(_cliques, request))


@st.cache_data(show_spinner=False, max_entries=64)
def measures_of(
    _current: CurrentDataset, _cliques: Cliques, request: PlanRequest
) -> dict[str, int | float]:
    """All measures of the plan for a request."""
    proposal = plan_found(_current, _cliques, request)
    return plan_of(_current, _cliques, proposal, request).measures


@st.cache_data(show_spinner="Planning within budgets", max_entries=32)
def budgets_compared(
    _current: CurrentDataset, _cliques: Cliques, request: PlanRequest
) -> pd.DataFrame:
    """Measure plans within several budgets."""
    rows = chosen_rows(_cliques, request)
    options = _options_by_planner(request)
    images = images_at_hand(_current)
    return budget_curve(_cliques, rows, request.options, options, [request.planner], images)


def _options_by_planner(request: PlanRequest) -> dict[str, dict[str, Any]]:
    return {request.planner: dict(request.planner_options)}


def describe_choice(cliques: Cliques, request: PlanRequest, rows: IntArray) -> None:
    """Draw how many cliques are chosen, and how many of them were not mined."""
    leans = find_leaning(cliques)[rows]
    has_gap = cliques.gaps()[rows] > 0
    leaning = describe_leaning(int(leans.sum()), int((has_gap & ~leans).sum()))
    text = f"{inflect(len(rows), 'cliques')}: {leaning}"

    selected = request.choice.cliques
    if selected is not None and len(selected) > len(rows):
        text += f"; {len(selected) - len(rows):,} selected that mining did not find"
    st.caption(escape(text))
