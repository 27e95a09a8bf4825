"""Page Plan: the missing images, their effect, and the job that makes them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import job_form, mine_button
from cobalance.app.web.components.graph.story import draw_plan
from cobalance.app.web.components.imbalances import details
from cobalance.app.web.components.shown_images import draw_grid, uris_of
from cobalance.app.web.plan import edits, effect_charts, query_editor
from cobalance.app.web.plan.choice import (
    PlanRequest,
    budgets_compared,
    choose,
    chosen_rows,
    cliques_after,
    curves_of,
    describe_choice,
    images_at_hand,
    mined_cliques,
    named_images,
    plan_found,
    plan_measured,
    planners_compared,
)
from cobalance.app.web.plan.estimate import draw_estimate
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url, number_in_url
from cobalance.app.web.widgets.controls import choose_view, download, download_table
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.theme import escape
from cobalance.app.web.widgets.wording import in_app
from cobalance.base.arrays import IntArray
from cobalance.base.errors import render
from cobalance.base.plurals import inflect
from cobalance.counting.cliques import Cliques
from cobalance.generation.planning.effects import touched_rows
from cobalance.generation.planning.plan import Plan, PlannedImages, queries_of
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.generation.planning.planners import WHOLE_IMAGES
from cobalance.generation.planning.resampling import BASELINES
from cobalance.graph.dataset.read import read_image_files
from cobalance.workflows.diagnose.findings import no_clique
from cobalance.workflows.panel.verdicts import query_verdicts, warn_unsupported
from cobalance.workflows.plan.resample import list_images, read_listed
from cobalance.workflows.plan.summaries import (
    COUNTS_ALONE,
    describe_balance,
    describe_proof,
    describe_worse,
    no_images,
)

KINDS = ("New images", EDITED_IMAGES := "Edited images")
SOURCES_SHOWN = 12
VIEWS = ("Cliques that change", "Concept graph", "Planners side by side")


def page() -> None:
    """Draw the page."""
    current = session.current()
    if choose_view("What to plan", KINDS, "plan_kind") == EDITED_IMAGES:
        edits.show(current)
        return
    if not current.is_mined:
        mine_button.offer(current)
        return
    if len(current.state.own_classes) > 1:
        current.state.require_own_classes("A plan of a dataset that has classes")
    cliques = mined_cliques(current.store, current.state)
    if not len(cliques.counts):
        why = no_clique(current.name, current.mining, current.class_sizes)
        empty_state("No clique", escape(render(why, in_app)))
        return
    request = choose(current, cliques)
    chosen = chosen_rows(cliques, request)
    describe_choice(cliques, request, chosen)
    if not len(chosen):
        _nothing_chosen(request)
        return
    found = plan_found(current, cliques, request)
    if not found.images.any():
        smallest = request.options.min_size or 1
        why = found.note or render(
            no_images(current.name, cliques, chosen, smallest, current.mining), in_app
        )
        empty_state("Nothing to make", escape(why), icon=":material/check_circle:")
        return
    if request.planner != WHOLE_IMAGES and images_at_hand(current) is None:
        st.caption(COUNTS_ALONE)
    head = st.container(key="_plan_summary", gap="xsmall")  # which page.css keeps in sight
    curve, told, pictures = st.container(), st.container(), st.container()
    left, right = st.columns([6, 7])
    with left:
        st.subheader("Images to make", anchor=False)
        edited = query_editor.edit(cliques, found, request, editable=may_edit())
    planned = replace(found, images=edited.apply(found.images))
    after = cliques_after(cliques, planned, request)
    measured = plan_measured(current, cliques, planned, request)
    touched = touched_rows(cliques, after)
    planner = f"{request.planner}, edited by hand" if edited.images else request.planner
    if edited.images:
        planned = replace(planned, proven=None, bound=None, note="")
    plan = assemble_plan(current, cliques, planned, request, planner)
    with told:
        effect_charts.draw_effects(measured, len(touched))
        effect_charts.warn(cliques, after, plan, measured)
        notes = [describe_balance(plan, cliques), describe_proof(plan)]
        st.caption(escape(" ".join(note for note in notes if note)))
    with pictures:
        _draw_sources(current, plan)
    queries = plan.queries
    asked = Counter(query.class_name for query in queries)
    by_class = [f"{n:,} {name} in {asked[name]:,}" for name, n in plan.images_by_class().items()]
    left.caption(f"Images by class, and in how many queries: {escape(', '.join(by_class))}.")
    if said := warn_unsupported(
        queries, query_verdicts(current.store, current.name, cliques, queries)
    ):
        st.caption(f":orange[:material/warning:] {said}")
    with right:
        st.subheader("Before and after", anchor=False)
        if request.planner == WHOLE_IMAGES:
            effect_charts.picture_rates(cliques, after)
        else:
            effect_charts.picture(cliques, after, touched)
    _take_away(current, plan, request.planner, measured, head)
    with curve:
        chart = st.empty()
        for left_by_images in curves_of(current, cliques, request):
            with chart.container():
                effect_charts.draw_curve(left_by_images, plan.images)
        _drag_budget(int(left_by_images["images"].max()), plan.images)
    view = choose_view("View", VIEWS, "plan_view")
    if view == VIEWS[0]:
        effect_charts.table(cliques, after, touched, chosen)
        details.draw(current)
        return
    if view == VIEWS[1]:
        draw_plan(current, [(query.class_name, query.concepts, query.n) for query in queries])
        return
    compared = planners_compared(current, cliques, request)
    left_out = compared.attrs["left_out"]
    if edited.images:
        own = pd.DataFrame([measured], index=pd.Index([planner], name="planner"))
        compared = pd.concat([own, compared])
    effect_charts.planners(compared, planner)
    for name, why in left_out.items():
        st.caption(escape(f"{name} is left out: {why}"))
    offer_lists(current, cliques, chosen)
    effect_charts.budgets(budgets_compared(current, cliques, request), plan.images)


def _draw_sources(current: CurrentDataset, plan: Plan) -> None:
    """Draw the first real images that the plan takes concept sets from, of those with files."""
    asked: dict[str, str] = {}
    for query in plan.queries:
        if len(asked) >= SOURCES_SHOWN:
            break
        for source in query.sources[:1]:
            asked.setdefault(source, f"{query.n} × {query.class_name}: {', '.join(query.concepts)}")
    if not asked:
        return
    files = read_image_files(current.store, current.name, list(asked))
    uris = {name: uri for name, uri in uris_of(files).items() if uri is not None}
    if not uris:
        return
    st.subheader("What they are made like", anchor=False)
    draw_grid(uris, asked.__getitem__, key="_plan_sources", label="Sources", row_px=120)
    st.caption(
        f"Real images whose concepts the first {len(uris):,} queries take, with a few changed."
    )


def _drag_budget(most: int, made: int) -> None:
    """Draw a slider that sets the budget."""
    if most < 2:
        return

    def take() -> None:
        st.session_state["budget"] = st.session_state["_plan_budget"]

    st.session_state["_plan_budget"] = min(made, most)
    st.slider("Budget of the plan, in images", 1, most, key="_plan_budget", on_change=take)


def _nothing_chosen(request: PlanRequest) -> None:
    if request.choice.cliques is None:
        empty_state("No clique fits", "Loosen a filter above.")
        return
    edits.offer_diagnose("plan for all that a filter names, above", "_plan_to_diagnose")


def assemble_plan(
    current: CurrentDataset,
    cliques: Cliques,
    planned: PlannedImages,
    request: PlanRequest,
    planner: str,
) -> Plan:
    """The plan on the page, edits included."""
    ids: Sequence[str] = ()
    if planned.sources is not None:
        named = named_images(current.store, current.state)
        ids = () if named is None else named[1]
    smallest, largest = request.options.resolve(cliques)
    options = replace(request.options, min_size=smallest, max_size=largest)
    queries, own = queries_of(cliques, planned, ids), dict(request.planner_options)
    return Plan(planner, options, queries, own, planned.proven, planned.bound, planned.note)


def _take_away(
    current: CurrentDataset,
    plan: Plan,
    planner: str,
    measured: Mapping[str, int | float],
    head: DeltaGenerator,
) -> None:
    """Draw the time estimate, the job settings, and the buttons for the plan.

    `planner` is the plan's name where none is typed; `head` is where the summary is, with the
    button that creates the job.
    """
    images = int(measured["images"])
    with st.container(border=True, key="_plan_job"):
        length = draw_estimate(current, images, job_form.chosen_recipe())
        settings = job_form.choose(current) if may_edit() else None
        if worse := describe_worse(measured):
            agreed = st.checkbox(f"Create the job all the same. {escape(worse)}", key="_plan_worse")
            settings = settings if agreed else None
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = edits.type_name(planner)
            download(
                "Download as JSON",
                lambda: plan_to_json(plan),
                f"{current.name}-{name}.json",
                key="_plan_json",
                disabled=not images,
            )
    with head:
        with st.container(horizontal=True, vertical_alignment="center"):
            effect_charts.draw_cost(measured, length)
            if may_edit():
                create = st.button(
                    "Create job",
                    type="primary",
                    key="_plan_create",
                    icon=":material/bolt:",
                    disabled=not images or settings is None,
                )
                if create and settings is not None:
                    amount = f"in {inflect(len(plan.queries), 'queries')}"
                    edits.start_job(current, name, settings, lambda _: (plan, amount))
                    st.rerun()
        edits.show_job(current, "_plan_to_jobs")


def offer_lists(current: CurrentDataset, cliques: Cliques, chosen: IntArray) -> None:
    """Draw the choice of a baseline, and downloads of its list for the chosen cliques."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baseline = st.selectbox(
            "List of images for a trainer",
            list(BASELINES),
            **choice_in_url("plan_list"),
            width=220,
            help="\n".join(f"- **{name}**: {purpose}" for name, purpose in BASELINES.items()),
        )
        seed = st.number_input(
            "Seed",
            0,
            value=0,
            **number_in_url("plan_seed"),
            width=120,
            help="Which images are repeated or dropped. Equal seeds give equal lists.",
        )
        made = partial(_list, current, cliques, chosen, baseline, seed)
        download_table(made, f"{current.name}-{baseline}", key="_plan_list")


def _list(
    current: CurrentDataset, cliques: Cliques, chosen: IntArray, baseline: str, seed: int
) -> pd.DataFrame:
    images, incidence = read_listed(current.store, current.name, current.mining.split)
    return list_images(images, incidence, cliques, chosen, baseline, seed)
