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
    draw_grid,
    draw_plan,
    job_form,
    mine_button,
    uris_of,
)
from cobalance.app.web.page.plan import edits, effect_charts, query_editor
from cobalance.app.web.page.plan.choice import (
    PlanRequest,
    budgets_compared,
    choose,
    chosen_rows,
    curves_of,
    describe_choice,
    images_at_hand,
    mined_cliques,
    plan_found,
    plan_of,
    planners_compared,
)
from cobalance.app.web.page.plan.estimate import draw_estimate
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
from cobalance.generation.planning import (
    BASELINES,
    WHOLE_IMAGES,
    Plan,
    PlannedImages,
    plan_to_json,
    touched_rows,
)
from cobalance.graph.dataset import read_image_files
from cobalance.graph.queries import COUNT_PLANNERS
from cobalance.workflows.diagnose.findings import no_clique
from cobalance.workflows.panel import query_verdicts, warn_unsupported
from cobalance.workflows.plan import (
    COUNTS_ALONE,
    Planned,
    describe_balance,
    describe_proof,
    describe_worse,
    list_images,
    no_images,
    read_listed,
    require_plannable,
)

KINDS = ("New images", EDITED_IMAGES := "Edited images")
SOURCES_SHOWN = 12
_CLIQUES, _GRAPH, _PLANNERS = "Cliques that change", "Concept graph", "Planners side by side"
VIEWS = (_CLIQUES, _GRAPH, _PLANNERS)


def page() -> None:
    """Draw the page."""
    current = session.current()
    if choose_view("What to plan", KINDS, "plan_kind") == EDITED_IMAGES:
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

    request = choose(current, cliques)
    chosen = chosen_rows(cliques, request)
    describe_choice(cliques, request, chosen)
    if not len(chosen):
        _nothing_chosen(request)
        return

    proposal = plan_found(current, cliques, request)
    if not proposal.images.any():
        _nothing_to_make(current, cliques, request, chosen, proposal.note)
        return
    if request.planner != WHOLE_IMAGES and images_at_hand(current) is None:
        st.caption(COUNTS_ALONE)
    _draw(current, cliques, request, proposal)


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
    current: CurrentDataset, cliques: Cliques, request: PlanRequest, proposal: PlannedImages
) -> None:
    """Draw a plan: its editor, its effects, the job that makes it, and other plans beside it."""
    # page.css keeps the container with this key in sight.
    head = st.container(key="_plan_summary", gap="xsmall")
    curve, effects, sources = st.container(), st.container(), st.container()
    left, right = st.columns([6, 7])

    # Drawn before what stands above it, which is all of the plan as it was edited.
    with left:
        st.subheader("Images to make", anchor=False)
        changes = query_editor.edit(cliques, proposal, request, editable=may_edit())
    images = replace(proposal, images=changes.apply(proposal.images))
    planned = plan_of(current, cliques, images, request, is_edited=bool(changes.images))

    with effects:
        by_counts = _choose_measure(request)
        _draw_effects(planned, by_counts=by_counts)
    with sources:
        _draw_sources(current, planned.plan)
    with left:
        _describe_classes(planned.plan)
    _warn_unsupported(current, planned)
    with right:
        st.subheader("Before and after", anchor=False)
        if by_counts:
            touched = touched_rows(cliques, planned.after)
            effect_charts.picture(cliques, planned.after, touched)
        else:
            effect_charts.picture_rates(cliques, planned.after)
    _take_away(current, request, planned, head)

    # Later than the buttons, as it may have to plan twice more.
    with curve:
        _draw_curve(current, request, planned)
    _draw_view(current, request, planned, by_counts=by_counts)


def _choose_measure(request: PlanRequest) -> bool:
    """Draw whether effects are gaps in images: at first where the planner balances these."""
    return st.toggle(
        "As ConBias counts",
        request.planner in COUNT_PLANNERS,
        **in_url("plan_counts"),
        help="Gaps in images, whatever the sizes of the classes, in place of rates.",
    )


def _draw_effects(planned: Planned, *, by_counts: bool) -> None:
    """Draw the plan's measures, its warnings, and how balanced and how good it is."""
    plan = planned.plan
    effect_charts.draw_effects(planned.measures, by_counts=by_counts)
    effect_charts.warn(planned.cliques, planned.after, plan, planned.measures)
    notes = filter(None, (describe_balance(plan, planned.cliques), describe_proof(plan)))
    st.caption(escape(" ".join(notes)))


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


def _draw_curve(current: CurrentDataset, request: PlanRequest, planned: Planned) -> None:
    """Draw the effect by number of images: at once that of the plan, then of larger plans."""
    n_images = planned.plan.images
    chart = st.empty()
    for curve in curves_of(current, planned.cliques, request):
        with chart.container():
            effect_charts.draw_curve(curve, n_images)
    _drag_budget(int(curve["images"].max()), n_images)


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


def _draw_sources(current: CurrentDataset, plan: Plan) -> None:
    """Draw the first real images that the plan takes concept sets from, of those with files."""
    captions: dict[str, str] = {}
    for query in plan.queries:
        if len(captions) >= SOURCES_SHOWN:
            break
        for source in query.sources[:1]:
            caption = f"{query.n} × {query.class_name}: {', '.join(query.concepts)}"
            captions.setdefault(source, caption)
    if not captions:
        return

    files = read_image_files(current.store, current.name, list(captions))
    uris = {name: uri for name, uri in uris_of(files).items() if uri is not None}
    if not uris:
        return

    st.subheader("What they are made like", anchor=False)
    draw_grid(uris, captions.__getitem__, key="_plan_sources", label="Sources", row_px=120)
    st.caption(
        f"Real images whose concepts the first {len(uris):,} queries take, with a few changed."
    )


def _drag_budget(most: int, n_images: int) -> None:
    """Draw a slider that sets the budget."""
    if most < 2:
        return

    def take() -> None:
        st.session_state["budget"] = st.session_state["_plan_budget"]

    # The plan may have changed by another control, so that its size is set in each run.
    st.session_state["_plan_budget"] = min(n_images, most)
    st.slider("Budget of the plan, in images", 1, most, key="_plan_budget", on_change=take)


def _take_away(
    current: CurrentDataset, request: PlanRequest, planned: Planned, head: DeltaGenerator
) -> None:
    """Draw the time estimate, the job settings, and the buttons for the plan.

    `head` is where the summary is, with the button that creates the job.
    """
    n_images = planned.plan.images

    with st.container(border=True, key="_plan_job"):
        length = draw_estimate(current, n_images, job_form.chosen_recipe())
        settings = _choose_settings(current, planned.measures)
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
            effect_charts.draw_cost(planned.measures, length)
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
