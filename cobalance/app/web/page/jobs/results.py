"""Use a job's accepted images: build a rebalanced dataset, export for training."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain, count
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.page.jobs import exports
from cobalance.app.web.page.jobs.job_cards import count_edited_of
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    may_edit,
    number_in_url,
    session,
    tasks,
    url,
)
from cobalance.app.web.widgets import bold, show_task
from cobalance.base import Progress, clean_name, inflect
from cobalance.generation import INCOMPLETE, REAL_IMAGES, RECIPES, ResultOptions
from cobalance.graph import Job, read_job
from cobalance.workflows import rebalance_job

_COMPARES = "_compares_when_added"  # the task that this session waits for, and its dataset
_REAL = {
    "all": "The edited images with what was made of them for the other groups, and real images "
    "of classes that are no group.",
    "unedited": "What was made for every group in place of the edited images, and all other real "
    "images.",
    "none": "What was made for every group alone, without any real image.",
}


def show(current: CurrentDataset, job: Job, actions: DeltaGenerator) -> None:
    """Draw how to use a job's accepted images, in `actions`; nothing without any."""
    if not job.accepted:
        return
    key, usual = f"merge {job.id}", name_for(current.name, session.datasets(), job.id)
    with actions.container(horizontal=True, horizontal_alignment="right"):
        # Filled once the options are known.
        first = st.container(width="content")
        with st.popover("Options", icon=":material/tune:", key="_job_options"):
            result = _choose_images(job) if count_edited_of(job) else {}
            name = _type_name(job, usual)
        with first:
            if may_edit() and st.button(
                "Add and compare",
                type="primary",
                key="_merge_job",
                icon=":material/compare_arrows:",
                disabled=tasks.is_running(key),
                help="Writes a dataset with the images of this one and the accepted ones, mined "
                "with the same options, and compares both. Adding again updates it with later "
                "images and verdicts.",
            ):
                _start(current, job, name, key, result)
                st.session_state[_COMPARES] = key, name
                st.rerun()
        with st.popover("Export", icon=":material/archive:", key="_job_export"):
            exports.draw(job, result)

    if not show_task(key):
        _compare_once(current, key)


def _compare_once(current: CurrentDataset, key: str) -> None:
    """Go on to the comparison, once the dataset that this session has asked for is written."""
    asked_for, name = st.session_state.get(_COMPARES, (None, ""))
    task = tasks.find(key)
    if asked_for != key or task is None:
        return

    del st.session_state[_COMPARES]
    if task.error is None:
        url.compare(current.name, name)
        url.go_to("compare")


def made_from(datasets: pd.DataFrame, job: str) -> list[str]:
    """The datasets that a job's images were added to, by their source."""
    is_made = datasets["source"].fillna("").str.endswith(f" and the images of job {job}")
    return list(datasets["dataset"][is_made])


def name_for(dataset: str, datasets: pd.DataFrame, job: str) -> str:
    """The name of a job's rebalanced dataset: an existing one, else one that is free.

    Examples
    --------
    >>> listed = pd.DataFrame({"dataset": ["a", "a-rebalanced"], "source": ["a.csv", "b.csv"]})
    >>> name_for("a", listed, "5f1c")
    'a-rebalanced-2'
    """
    existing = made_from(datasets, job)
    if existing:
        return existing[0]

    usual, used = f"{dataset}-rebalanced", set(datasets["dataset"])
    names = chain([usual], (f"{usual}-{number}" for number in count(2)))
    return next(name for name in names if name not in used)


def changed_options(chosen: ResultOptions, usual: ResultOptions) -> dict[str, Any]:
    """The options that differ from the recipe's, by name.

    Examples
    --------
    >>> changed_options(ResultOptions(real="none"), ResultOptions(real="unedited", share=0.5))
    {'real': 'none', 'share': 1.0}
    """
    before = asdict(usual)
    return {name: value for name, value in asdict(chosen).items() if value != before[name]}


def _choose_images(job: Job) -> dict[str, Any]:
    """Draw which images the dataset has; give the options that differ from the recipe's."""
    recipe = str(job.settings.get("recipe", ""))
    usual = ResultOptions()
    # The recipe may be of a plug-in that is no longer installed.
    if recipe in RECIPES:
        usual = RECIPES[recipe].result or usual
    with st.container(horizontal=True, vertical_alignment="bottom", key="_job_result"):
        real: Any = st.segmented_control(
            "Real images",
            REAL_IMAGES,
            default=usual.real,
            **choice_in_url("real"),
            help="\n".join(f"- **{name}**: {meaning}" for name, meaning in _REAL.items()),
        )
        # A URL may leave it empty.
        real = real or usual.real
        share = _choose_share(usual.share) if real == "unedited" else 1.0
        incomplete: Any = st.segmented_control(
            "Where a group lacks an image",
            INCOMPLETE,
            default=usual.incomplete,
            **choice_in_url("incomplete"),
            help="**drop**: leave the image out, with all that was made of it, so that all groups "
            "have equally many. **keep**: take what there is.",
        )
    st.caption(_REAL[real])

    chosen = ResultOptions(real, share, incomplete or usual.incomplete)
    return changed_options(chosen, usual)


def _choose_share(usual: float) -> float:
    """Draw the share of the edited images that give way; all where the field is empty."""
    percent: int | None = st.number_input(
        "Share that gives way, %",
        0,
        100,
        round(100 * usual),
        **number_in_url("share"),
        width=170,
        help="Of the edited images; the others stay as they are.",
    )
    return 1.0 if percent is None else percent / 100


def _type_name(job: Job, usual: str) -> str:
    """Draw the name of the rebalanced dataset; return it, or the usual one."""
    typed = st.text_input(
        "Name of the rebalanced dataset",
        placeholder=usual,
        max_chars=200,
        key=f"_merge_into {job.id}",
        width=300,
    )
    return clean_name(typed) or usual


def draw_rebalanced(job: Job) -> None:
    """Draw links to the pages about each dataset that a job's images were added to."""
    for name in made_from(session.datasets(), job.id):
        _lead_on(name)


def _lead_on(name: str) -> None:
    """Draw links to the pages about a rebalanced dataset."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Added to {bold(name)}", width="content")
        if st.button(
            "Compare before and after",
            key=f"_merged_compare {name}",
            icon=":material/compare_arrows:",
        ):
            url.compare(st.session_state[session.DATASET], name)
            url.go_to("compare")
        if st.button("Diagnose", key=f"_merged_diagnose {name}", icon=":material/balance:"):
            session.choose(name)
            url.clear()
            url.go_to("diagnose")


def _start(
    current: CurrentDataset, job: Job, into: str, key: str, result: Mapping[str, Any]
) -> None:
    """Start writing the rebalanced dataset in the background."""
    store, dataset, settings = current.store, current.name, session.settings()

    def work(progress: Progress) -> str:
        # Read anew: more may have been accepted since the page was drawn.
        latest = read_job(store, job.id)
        merged = rebalance_job(
            store, settings.folders(), latest, into, result=result, progress=progress
        )
        real = "the images" if merged.real is None else inflect(merged.real, "images")
        generated = inflect(merged.generated, "generated ones")
        summary = f"{merged.dataset}: {real} of {dataset} and {generated}."
        return " ".join([summary, *merged.remarks])

    tasks.start(key, f"Writing {into}", work)
