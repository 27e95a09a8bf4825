"""Page Plan: the missing images, their effect, and the job that makes them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import (
    details,
    draw_plan,
    job_form,
    mine_button,
)
from cobalance.app.web.page.plan import edits, effect_charts, query_editor
from cobalance.app.web.page.plan.choice import (
    PlanRequest,
    budgets_compared,
    choose,
    choose_budget,
    chosen_rows,
    describe_choice,
    images_at_hand,
    measures_of,
    mined_cliques,
    plan_found,
    plan_of,
    planners_compared,
    sizes_of,
)
from cobalance.app.web.page.plan.estimate import Pace, draw_estimate
from cobalance.app.web.page.plan.examples import draw_examples
from cobalance.app.web.page.plan.sizes import PILOT, draw_cards, draw_curve
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    in_url,
    may_edit,
    number_in_url,
    session,
)
from cobalance.app.web.widgets import (
    Page,
    choose_view,
    download,
    download_table,
    empty_state,
    escape,
    in_app,
)
from cobalance.base import IntArray, inflect, render
from cobalance.counting import Cliques
from cobalance.generation import (
    BASELINES,
    WHOLE_IMAGES,
    Plan,
    PlannedImages,
    PlanSizes,
    plan_to_json,
    touched_rows,
)
from cobalance.graph import COUNT_PLANNERS
from cobalance.workflows import (
    COUNTS_ALONE,
    Planned,
    describe_balance,
    describe_proof,
    describe_worse,
    list_images,
    no_clique,
    no_images,
    query_verdicts,
    read_listed,
    require_plannable,
    warn_unsupported,
)

KINDS = ("New images", EDITED_IMAGES := "Edited images")
_CLIQUES, _GRAPH, _PLANNERS = "Cliques that change", "Concept graph", "Planners side by side"
VIEWS = (_CLIQUES, _GRAPH, _PLANNERS)


class Places:
    """Where the parts of a plan are drawn, in this order from the top.

    Some are drawn before others that stand above them.
    """

    def __init__(self) -> None:
        self.chosen = st.container(key="_plan_chosen")
        self.sizes = st.container(key="_plan_sizes", gap=None)
        left, right = st.columns([6, 7], gap="large")
        self.curve = left.container(key="_plan_curve_place", gap=None)
        self.examples = right.container(key="_plan_examples")
        self.budget = left.container(horizontal=True, vertical_alignment="bottom")
        # page.css keeps the container with this key in sight.
        self.head = st.container(key="_plan_summary", gap="xsmall")

    def reserve(self) -> None:
        """Have the parts of a plan with sizes keep their places in page.css until they are drawn.

        A container without anything in it is not drawn at all.
        """
        for place in (self.chosen, self.sizes, self.curve, self.head):
            place.space(1)


def page() -> None:
    """Draw the page."""
    current = session.current()
    controls = st.container(horizontal=True, vertical_alignment="bottom", key="_plan_choice")
    with controls:
        kind = choose_view("What to plan", KINDS, "plan_kind")
    if kind == EDITED_IMAGES:
        edits.show(current)
        return
    if not current.is_mined:
        mine_button.offer(current)
        return
    require_plannable(current.state)

    cliques = mined_cliques(current.store, current.state)
    if not len(cliques.counts):
        reason = no_clique(current.name, current.mining, current.class_sizes)
        empty_state("No clique", escape(render(reason, in_app)))
        return

    places = Places()
    request = choose(current, cliques, controls)
    has_images = images_at_hand(current) is not None
    has_sizes = request.planner == WHOLE_IMAGES and has_images
    if has_sizes:
        places.reserve()
    with places.budget:
        request = request.with_budget(choose_budget(request.planner))
        with st.popover("How many images?", key="_plan_pilot"):
            st.markdown(PILOT)

    chosen = chosen_rows(cliques, request)
    with places.chosen:
        describe_choice(cliques, request, chosen)
    if not len(chosen):
        _nothing_chosen(request)
        return

    # Without a budget it is that of the usual size.
    sizes = None
    if has_sizes:
        sizes = sizes_of(current, cliques, request.with_budget(None))
        if request.options.budget is None:
            with st.spinner("Planning"):
                request = request.with_budget(sizes.usual.plan.options.budget)

    proposal = plan_found(current, cliques, request)
    if not proposal.images.any():
        _nothing_to_make(current, cliques, request, chosen, proposal.note)
        return
    if request.planner != WHOLE_IMAGES and not has_images:
        st.caption(COUNTS_ALONE)
    _draw(current, cliques, request, proposal, sizes, places)


PAGE = Page("Plan", "plan", ":material/checklist:", page)


def _nothing_chosen(request: PlanRequest) -> None:
    if request.choice.cliques is None:
        empty_state("No clique fits", "Loosen a filter above.")
        return
    edits.offer_diagnose("plan for all that a filter names, above", "_plan_to_diagnose")


def _nothing_to_make(
    current: CurrentDataset, cliques: Cliques, request: PlanRequest, chosen: IntArray, note: str
) -> None:
    """Say why no image is missing: by the planner's own note, or else by the cliques' gaps."""
    smallest = request.options.min_size or 1
    reason = note or render(
        no_images(current.name, cliques, chosen, smallest, current.mining), in_app
    )
    empty_state("Nothing to make", escape(reason), icon=":material/check_circle:")


def _draw(
    current: CurrentDataset,
    cliques: Cliques,
    request: PlanRequest,
    proposal: PlannedImages,
    sizes: PlanSizes | None,
    places: Places,
) -> None:
    """Draw a plan: its sizes, examples and effects, its queries, and the job that makes it."""
    effects = st.container(key="_plan_effects")
    # Drawn before what stands above it, which is all of the plan as it was edited.
    with st.expander(_queries_text(proposal), key="_plan_queries"):
        changes = query_editor.edit(cliques, proposal, request, editable=may_edit())
        images = replace(proposal, images=changes.apply(proposal.images))
        planned = plan_of(current, cliques, images, request, is_edited=bool(changes.images))
        _describe_classes(planned.plan)
        _warn_unsupported(current, planned)

    with places.examples:
        draw_examples(current, planned.plan)
    with effects:
        by_counts = _draw_effects(planned, request)
    pace = _take_away(current, request, planned, places.head)
    _draw_view(current, request, planned, by_counts=by_counts)

    # Last, as further plans may have to be made.
    if sizes is None:
        return

    def measure(budget: int | None) -> Mapping[str, int | float]:
        return measures_of(current, cliques, request.with_budget(budget))

    with places.sizes:
        draw_cards(sizes, planned.plan, measure, pace)
    with places.curve:
        draw_curve(sizes, planned.plan)


def _queries_text(proposal: PlannedImages) -> str:
    n_queries = int((proposal.images > 0).sum())
    return f"All {inflect(n_queries, 'queries')}" if n_queries > 1 else "The query"


def _draw_effects(planned: Planned, request: PlanRequest) -> bool:
    """Draw the plan's effect and warnings; return whether counts were chosen.

    That is so at first where the planner balances counts.
    """
    plan, cliques = planned.plan, planned.cliques
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Before and after", anchor=False)
        by_counts = st.toggle(
            "As ConBias counts",
            request.planner in COUNT_PLANNERS,
            **in_url("plan_counts"),
            help="Gaps in images, whatever the sizes of the classes, in place of rates.",
        )

    effect_charts.warn(cliques, planned.after, plan, planned.measures)
    if by_counts:
        touched = touched_rows(cliques, planned.after)
        effect_charts.picture(cliques, planned.after, touched, planned.measures)
    else:
        effect_charts.picture_rates(cliques, planned.after, planned.measures)

    notes = filter(None, (describe_balance(plan, cliques), describe_proof(plan)))
    st.caption(escape(" ".join(notes)))
    return by_counts


def _describe_classes(plan: Plan) -> None:
    """Draw how many images the plan has of each class."""
    n_queries = Counter(query.class_name for query in plan.queries)
    by_class = [
        f"{n:,} {name} in {n_queries[name]:,}" for name, n in plan.images_by_class().items()
    ]
    st.caption(f"Images by class, and in how many queries: {escape(', '.join(by_class))}.")


def _warn_unsupported(current: CurrentDataset, planned: Planned) -> None:
    """Warn of queries that no audit supports."""
    queries = planned.plan.queries
    verdicts = query_verdicts(current.store, current.name, planned.cliques, queries)
    if warning := warn_unsupported(queries, verdicts):
        st.caption(f":orange[:material/warning:] {warning}")


def _draw_view(
    current: CurrentDataset, request: PlanRequest, planned: Planned, *, by_counts: bool
) -> None:
    """Draw the chosen view of the plan: its cliques, their graph, or other planners."""
    view = choose_view("View", VIEWS, "plan_view")

    if view == _CLIQUES:
        effect_charts.table(planned, by_counts=by_counts)
        details.draw(current)
    elif view == _GRAPH:
        queries = [(query.class_name, query.concepts, query.n) for query in planned.plan.queries]
        draw_plan(current, queries)
    else:
        _draw_planners(current, request, planned)


def _draw_planners(current: CurrentDataset, request: PlanRequest, planned: Planned) -> None:
    """Draw all planners and several budgets beside the plan, and lists of the baselines."""
    cliques, planner = planned.cliques, planned.plan.planner
    compared = planners_compared(current, cliques, request)
    # Read first, as a frame that is put together has no attributes.
    left_out = compared.attrs["left_out"]
    if planner != request.planner:
        index = pd.Index([planner], name="planner")
        compared = pd.concat([pd.DataFrame([planned.measures], index=index), compared])

    effect_charts.planners(compared, planner)
    for name, reason in left_out.items():
        st.caption(escape(f"{name} is left out: {reason}"))
    offer_lists(current, cliques, planned.chosen)
    effect_charts.budgets(budgets_compared(current, cliques, request), planned.plan.images)


def _take_away(
    current: CurrentDataset, request: PlanRequest, planned: Planned, head: DeltaGenerator
) -> Pace:
    """Draw the time estimate, the job settings, and the buttons for the plan; return the pace.

    `head` is where the summary is, with the button that creates the job.
    """
    n_images = planned.plan.images

    with st.container(border=True, key="_plan_job"):
        pace = draw_estimate(current, n_images, job_form.chosen_recipe())
        settings = _choose_settings(current, planned.measures)
        # The job tells what it costs by the price of the estimate.
        if settings is not None and pace.hour_price is not None:
            settings = {**settings, "hour_price": pace.hour_price}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = edits.type_name(request.planner)
            download(
                "Download as JSON",
                lambda: plan_to_json(planned.plan),
                f"{current.name}-{name}.json",
                key="_plan_json",
                disabled=not n_images,
            )

    with head:
        with st.container(horizontal=True, vertical_alignment="center"):
            effect_charts.draw_cost(planned.measures, pace.time(n_images))
            if may_edit():
                create = st.button(
                    "Create job",
                    type="primary",
                    key="_plan_create",
                    icon=":material/bolt:",
                    disabled=not n_images or settings is None,
                )
                if create and settings is not None:
                    plan = planned.in_own_classes()
                    amount = f"in {inflect(len(plan.queries), 'queries')}"
                    edits.start_job(current, name, settings, lambda _: (plan, amount))
                    st.rerun()
        edits.show_job(current, "_plan_to_jobs")
    return pace


def _choose_settings(
    current: CurrentDataset, measured: Mapping[str, int | float]
) -> Mapping[str, Any] | None:
    """Draw the job's settings; None without the right, or consent to a plan that does harm."""
    settings = job_form.choose(current) if may_edit() else None
    worse = describe_worse(measured)
    if not worse:
        return settings
    agreed = st.checkbox(f"Create the job all the same. {escape(worse)}", key="_plan_worse")
    return settings if agreed else None


def offer_lists(current: CurrentDataset, cliques: Cliques, chosen: IntArray) -> None:
    """Draw the choice of a baseline, and downloads of its list for the chosen cliques."""
    purposes = [f"- **{name}**: {purpose}" for name, purpose in BASELINES.items()]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baseline = st.selectbox(
            "List of images for a trainer",
            list(BASELINES),
            **choice_in_url("plan_list"),
            width=220,
            help="\n".join(purposes),
        )

        seed = st.number_input(
            "Seed",
            0,
            value=0,
            **number_in_url("plan_seed"),
            width=120,
            help="Which images are repeated or dropped. Equal seeds give equal lists.",
        )

        make_list = partial(_list, current, cliques, chosen, baseline, seed)
        download_table(make_list, f"{current.name}-{baseline}", key="_plan_list")


def _list(
    current: CurrentDataset, cliques: Cliques, chosen: IntArray, baseline: str, seed: int
) -> pd.DataFrame:
    images, incidence = read_listed(current.store, current.name, current.mining.split)
    return list_images(images, incidence, cliques, chosen, baseline, seed)
