"""Plan edits by a recipe: source images, groups, reasons for exclusion, and the job."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from cobalance.app.web.components import job_form
from cobalance.app.web.page.plan.estimate import draw_estimate
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    in_url,
    may_edit,
    names_of,
    number_in_url,
    session,
    tasks,
    url,
    user_name,
)
from cobalance.app.web.widgets import (
    count_column,
    draw_columns,
    empty_state,
    show_error,
    show_task,
    text_column,
)
from cobalance.base import CobalanceError, DataError, Progress, clean_name, inflect
from cobalance.generation import (
    RECIPES,
    CounterfactualOptions,
    JobSettings,
    Plan,
    check_consent,
    read_job_settings,
)
from cobalance.graph import DatasetState, GraphStore, write_plan
from cobalance.graph.database import schema
from cobalance.ingest import caption_files, combine_words
from cobalance.workflows import choose_counterfactuals, order_plan

SELECTED, ALL = "Selected cliques", "All images"
_CREATED = "_created_job"  # this session's task, and the choices of its plan
_MADE = {"all": "every group", "others": "the other groups"}


def show(current: CurrentDataset) -> None:
    """Draw the choices, the images that follow from them, and the job."""
    left, right = st.columns([6, 7], gap="medium")
    with right:
        st.subheader("How to edit them", anchor=False)
        # Drawn first, as the other choices are those of its recipe.
        settings = job_form.choose(current, edits=True)
    recipe = st.session_state["recipe"]

    with left:
        st.subheader("Images to edit", anchor=False)
        changes = _choose(current, recipe)
        if changes is None:
            return
        try:
            summary = _summary(current, recipe, changes)
            if settings is not None:
                check_consent(read_job_settings(settings), list(summary["images"]))
        except CobalanceError as error:
            show_error(error)
            return
        _draw(summary)

    best_of = JobSettings(recipe=recipe).best_of
    draw_estimate(current, sum(summary["images"].values()), RECIPES[recipe], best_of)
    if may_edit():
        _order(current, recipe, changes, settings if summary["sources"] else None)


def _choose(current: CurrentDataset, recipe: str) -> dict[str, Any] | None:
    """Draw changes to the recipe's choice of images; None if no clique is selected."""
    usual = RECIPES[recipe].plan or CounterfactualOptions(captions="none")
    selected = tuple(url.selected_cliques())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.segmented_control(
            "Of which images",
            (SELECTED, ALL),
            default=SELECTED if selected else ALL,
            **choice_in_url("edit_of"),
            help="Images that show all concepts of one of the selected cliques, each whole: with "
            "all groups or none.",
        )
        limit: int | None = st.number_input(
            "Images at most",
            1,
            value=usual.limit,
            step=1,
            **number_in_url("most_images"),
            placeholder="no limit",
            width=150,
            help="Chosen by a hash of their names, so that more of them include these.",
        )

    # An image that is made in its own group is shown in no other.
    changes = {} if usual.made == "own" else _choose_groups(current, usual)
    if limit != usual.limit:
        changes["limit"] = limit
    if source == SELECTED:
        if not selected:
            offer_diagnose("edit all images", "_edits_to_diagnose")
            return None
        st.caption(f"{inflect(len(selected), 'cliques')} selected.")
        changes["cliques"] = selected
    return changes


def _choose_groups(current: CurrentDataset, usual: CounterfactualOptions) -> dict[str, Any]:
    """Draw the groups that images are made to show; return the differences from the usual ones."""
    class_names = names_of(current, schema.CLASS)
    if usual.words:
        names, placeholder = (
            [*combine_words(usual.words).groups, *class_names],
            "those of the words",
        )
    else:
        names, placeholder = class_names, "the classes"
    groups = st.multiselect(
        "Groups to show",
        list(dict.fromkeys(names)),
        **in_url("groups"),
        placeholder=placeholder,
    )

    shows = st.segmented_control(
        "Each image is made to show",
        list(_MADE),
        format_func=_MADE.__getitem__,
        default=usual.made,
        **choice_in_url("made"),
    )

    changes: dict[str, Any] = {}
    if groups:
        changes["groups"] = tuple(groups)
    if shows not in (None, usual.made):
        changes["made"] = shows
    return changes


def offer_diagnose(otherwise: str, key: str) -> None:
    """Say that no clique is selected, and draw the way to where they are."""
    text = f"Tick cliques on the **Diagnose** page, or {otherwise}."
    if empty_state("No clique selected", text, action=("Go to Diagnose", key)):
        url.go_to("diagnose")


def type_name(usual: str) -> str:
    """Draw the plan's name; return it, or the usual one where none is typed."""
    typed = st.text_input(
        "Name of the plan", placeholder=usual, max_chars=200, **in_url("plan_name"), width=260
    )
    return clean_name(typed) or usual


def _summary(current: CurrentDataset, recipe: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    folder = session.settings().folders().captions
    path = caption_files(folder).path(current.name)
    captions_written = path.stat().st_mtime_ns if path.exists() else None
    return _summarise(
        current.store, folder, current.state, captions_written, recipe, tuple(changes.items())
    )


# Cached under the dataset's state and its captions' time: from these all else follows.
@st.cache_data(show_spinner="Reading the images and their captions", max_entries=32)
def _summarise(
    _store: GraphStore,
    _folder: Path,
    state: DatasetState,
    captions_written: int | None,  # noqa: ARG001
    recipe: str,
    changes: tuple[tuple[str, Any], ...],
) -> dict[str, Any]:
    return choose_counterfactuals(_store, _folder, state.name, recipe, dict(changes)).summary()


def _draw(summary: Mapping[str, Any]) -> None:
    """Draw how many images there are to edit and to make, and why others are left out."""
    groups, left_out = summary["images"], summary["left_out"]
    with st.container(horizontal=True, key="_edits_metrics"):
        st.metric("Images to edit", f"{summary['sources']:,}")
        st.metric("Images to make", f"{sum(groups.values()):,}")

    if groups:
        draw_columns(
            {
                "group": (list(groups), text_column("Group", width=180)),
                "images": (list(groups.values()), count_column("Images to make", 110)),
            },
            220,
            key="_edits_groups",
            alt="Images to make of each group",
        )
    else:
        st.caption(":orange[:material/warning:] No image is left to edit.")

    if left_out:
        draw_columns(
            {
                # The number stands first, so that a phone shows it.
                "images": (list(left_out.values()), count_column("Images", 75)),
                "reason": (list(left_out), text_column("Left out", width=330)),
            },
            250,
            key="_edits_left_out",
            alt="Images that are left out, by reason",
        )


def _order(
    current: CurrentDataset,
    recipe: str,
    changes: Mapping[str, Any],
    settings: Mapping[str, Any] | None,
) -> None:
    """Draw the plan's name and the button that creates the job."""
    # Read here: the thread that plans has no session.
    store, dataset = current.store, current.name
    folder = session.settings().folders().captions

    def plan(progress: Progress) -> tuple[Plan, str]:
        counterfactuals = choose_counterfactuals(store, folder, dataset, recipe, changes, progress)
        if not counterfactuals.plan.queries:
            raise DataError("No image is left to edit.")
        sources = counterfactuals.selection.sources
        return counterfactuals.plan, f"of {inflect(len(sources), 'images')} to edit"

    with st.container(border=True, key="_edits_job"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = type_name(recipe)
            create = st.button(
                "Create job", type="primary", key="_edits_create", disabled=settings is None
            )
            if create and settings is not None:
                start_job(current, name, settings, plan)
                st.rerun()
        show_job(current, "_edits_to_jobs")


def start_job(
    current: CurrentDataset,
    name: str,
    settings: Mapping[str, Any],
    plan: Callable[[Progress], tuple[Plan, str]],
) -> None:
    """Start writing a plan and creating a job for it, in the background.

    `plan` gives the plan, and what its images are of or in, for the message.
    """
    # Read here: the thread that works has no session.
    store, dataset = current.store, current.name
    user, places = user_name(), session.image_roots(dataset)

    def work(progress: Progress) -> str:
        new_plan, amount = plan(progress)
        write_plan(store, dataset, name, **new_plan.write_arguments(), progress=progress)

        order_plan(
            store,
            dataset,
            name,
            new_plan.queries,
            settings,
            progress,
            places=places,
            planned=new_plan.planner_options,
            created_by=user,
        )

        return f"Created a job for {inflect(new_plan.images, 'images')} {amount}."

    task = tasks.start(_task_key(current), f"Creating the job {name}", work)
    st.session_state[_CREATED] = task, st.query_params.to_dict()


def show_job(current: CurrentDataset, key: str) -> None:
    """Draw how far the creation of the job is, and then the way to it.

    What came of it is shown beside the plan that it is of, and to whoever created it.
    """
    task = tasks.find(_task_key(current))
    is_of_this_plan = st.session_state.get(_CREATED) == (task, st.query_params.to_dict())
    if not is_of_this_plan and not tasks.is_running(_task_key(current)):
        job_form.draw_caution()
        return

    if show_task(_task_key(current)) or task is None or task.result is None:
        return
    if st.button("See the jobs", key=key, icon=":material/bolt:"):
        url.go_to("jobs")


def _task_key(current: CurrentDataset) -> str:
    return f"job {current.name}"
