"""Page Plan: the missing images, their effect, and the job that makes them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import job_form, mine_button
from cobalance.app.web.components.graph.story import draw_plan
from cobalance.app.web.components.imbalances import details
from cobalance.app.web.plan import edits, effect_charts, query_editor
from cobalance.app.web.plan.choice import (
    PlanRequest,
    budgets_compared,
    choose,
    chosen_rows,
    describe_choice,
    plan_found,
    planners_compared,
)
from cobalance.app.web.plan.estimate import draw_estimate
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url, number_in_url
from cobalance.app.web.widgets.controls import choose_view, download
from cobalance.app.web.widgets.messages import empty_state, show_error
from cobalance.app.web.widgets.theme import escape
from cobalance.app.web.widgets.wording import in_app
from cobalance.generation.planning.effects import measure, touched_rows
from cobalance.generation.planning.plan import Plan, PlannedImages, queries_of
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.generation.planning.resampling import BASELINES
from cobalance.generation.planning.simulation import simulate_images
from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.errors import CobalanceError, render
from cobalance.graph.plurals import inflect
from cobalance.workflows.cells import to_csv
from cobalance.workflows.diagnose.findings import no_clique
from cobalance.workflows.panel.verdicts import query_verdicts, warn_unsupported
from cobalance.workflows.plan.resample import list_images, read_listed
from cobalance.workflows.plan.summaries import describe_balance, describe_proof, no_images

KINDS = ("New images", EDITED_IMAGES := "Edited images")
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
    with st.spinner("Reading the cliques", show_time=True):
        cliques: Cliques = current.read(load_cliques)
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
    try:
        found = plan_found(cliques, request)
    except CobalanceError as error:  # such as caps that leave no plan
        show_error(error)
        return
    planned = found.images
    if not planned.any():
        smallest = request.options.min_size
        why = no_images(current.name, cliques, chosen, smallest, current.mining)
        icon = ":material/check_circle:"
        empty_state("Nothing to make", escape(render(why, in_app)), icon=icon)
        return
    head = st.container(key="_plan_summary", gap="xsmall")  # which page.css keeps in sight
    told = st.container()
    left, right = st.columns([6, 7])
    with left:
        st.subheader("Images to make", anchor=False)
        edited = query_editor.edit(cliques, planned, request, editable=may_edit())
    images = edited.apply(planned)
    after = simulate_images(cliques, images)
    measured = measure(cliques, after, images, chosen)
    touched = touched_rows(cliques, after)
    planner = f"{request.planner}, edited by hand" if edited.images else request.planner
    plan = assemble_plan(cliques, images, request, planner, None if edited.images else found)
    with told:
        effect_charts.draw_effects(measured, len(touched))
        effect_charts.warn(cliques, after, measured["images"], request.options.min_size)
        st.caption(escape(" ".join([describe_balance(plan, cliques), describe_proof(plan)])))
    queries = plan.queries
    if said := warn_unsupported(
        queries, query_verdicts(current.store, current.name, cliques, queries)
    ):
        st.caption(f":orange[:material/warning:] {said}")
    with right:
        st.subheader("Before and after", anchor=False)
        effect_charts.picture(cliques, after, touched)
    _take_away(current, plan, request.planner, measured, head)
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
    both = replace(request.options, budget=None, largest_first=True)
    curve = budgets_compared(cliques, replace(request, options=both))
    _drag_budget(int(curve["budget"].max()), request.options.budget)
    effect_charts.budgets(curve, request.options.budget)


def _drag_budget(most: int, budget: int | None) -> None:
    """Draw a slider for the budget; its right end sets no limit."""
    if most < 2:
        return
    at = min(budget or most, most)

    def take() -> None:
        chosen = st.session_state["_plan_budget"]
        st.session_state["budget"] = None if chosen >= most else chosen

    st.session_state["_plan_budget"] = at
    st.slider(
        "Budget of the plan, in images",
        1,
        most,
        key="_plan_budget",
        on_change=take,
        help="What Algorithm 1 needs for no gap at all is the end, which sets no limit.",
    )


def _nothing_chosen(request: PlanRequest) -> None:
    if request.choice.cliques is None:
        empty_state("No clique fits", "Loosen a filter above.")
        return
    edits.offer_diagnose("plan for all that a filter names, above", "_plan_to_diagnose")


def assemble_plan(
    cliques: Cliques,
    images: IntArray,
    request: PlanRequest,
    planner: str,
    found: PlannedImages | None = None,
) -> Plan:
    """The plan on the page, edits included.

    Parameters
    ----------
    images : int array, shape (n_cliques, n_classes)
        Images of each class to make for each clique.
    found : PlannedImages or None
        What the planner says of them, unless they were edited.
    """
    queries, own = queries_of(cliques, images), dict(request.planner_options)
    made = Plan(planner, request.options, queries, own)
    if found is None:
        return made
    return replace(made, proven=found.proven, bound=found.bound, note=found.note)


def _take_away(
    current: CurrentDataset,
    plan: Plan,
    planner: str,
    measured: Mapping[str, int],
    head: DeltaGenerator,
) -> None:
    """Draw the time estimate, the job settings, and the buttons for the plan.

    Parameters
    ----------
    planner : str
        The plan's name where none is typed.
    head : DeltaGenerator
        Where the summary is, with the button that creates the job.
    """
    images = measured["images"]
    with st.container(border=True, key="_plan_job"):
        length = draw_estimate(current, images, job_form.chosen_recipe())
        settings = job_form.choose(current) if may_edit() else None
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
        file = f"{current.name}-{baseline}"
        download("CSV", lambda: to_csv(made()), f"{file}.csv", key="_plan_list_csv")
        download(
            "Parquet",
            lambda: made().to_parquet(index=False),
            f"{file}.parquet",
            key="_plan_list_parquet",
        )


def _list(
    current: CurrentDataset, cliques: Cliques, chosen: IntArray, baseline: str, seed: int
) -> pd.DataFrame:
    images, incidence = read_listed(current.store, current.name, current.mining.split)
    return list_images(images, incidence, cliques, chosen, baseline, seed)
