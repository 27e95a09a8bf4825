"""Use a job's accepted images: build a rebalanced dataset, export for training."""

import re
import shlex

import pandas as pd
import streamlit as st

from app.services.results import merge_job
from app.views.state import session, tasks, url
from app.views.state.access import may_edit
from app.views.state.session import CurrentDataset
from app.views.state.url import choice_in_url
from app.views.widgets.task_progress import show_task
from app.views.widgets.theme import bold
from generation.export import EXPORTERS
from graph.jobs.status import Job, read_job
from graph.names import clean_name
from graph.progress import Progress

_NOT_IN_FOLDERS = re.compile(r"[^\w.-]+")


def show(current: CurrentDataset, job: Job) -> None:
    """Draw how to use a job's accepted images; nothing without any."""
    if not job.accepted:
        return
    st.subheader("Use the accepted images", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left.container(border=True, height="stretch", key="_job_merge"):
        _merge(current, job)
    with right.container(border=True, height="stretch", key="_job_export"):
        _export(job)


def made_from(datasets: pd.DataFrame, job: str) -> list[str]:
    """The datasets that a job's images were added to, by their source.

    Examples
    --------
    >>> listed = pd.DataFrame(
    ...     {"dataset": ["a", "b"], "source": ["a.csv", "a and the images of job 5f1c"]})
    >>> made_from(listed, "5f1c")
    ['b']
    """
    found = datasets["source"].fillna("").str.endswith(f" and the images of job {job}")
    return list(datasets["dataset"][found])


def name_for(dataset: str, datasets: pd.DataFrame, job: str) -> str:
    """The name of a job's rebalanced dataset: an existing one, else one that is free.

    Examples
    --------
    >>> listed = pd.DataFrame({"dataset": ["a", "a-rebalanced"], "source": ["a.csv", "b.csv"]})
    >>> name_for("a", listed, "5f1c")
    'a-rebalanced-2'
    """
    own = made_from(datasets, job)
    if own:
        return own[0]
    taken = set(datasets["dataset"])
    usual = name = f"{dataset}-rebalanced"
    number = 1
    while name in taken:
        number += 1
        name = f"{usual}-{number}"
    return name


def export_command(job: Job, format_: str) -> str:
    """The command that exports a job's dataset.

    The folder is named after the dataset, in characters that any shell and file system takes.
    """
    stem = _NOT_IN_FOLDERS.sub("-", job.dataset).strip("-.")[:80] or "dataset"
    folder = f"{stem}-rebalanced"
    return shlex.join(["cobalance", "export", job.id, folder, "--as", format_])


def _merge(current: CurrentDataset, job: Job) -> None:
    st.markdown("**Diagnose again**")
    st.caption(
        f"A dataset with the images of {bold(current.name)} and the accepted ones, mined with the "
        "same options. Adding again updates it with later images and verdicts."
    )
    listed = session.datasets()
    key = f"merge {job.id}"
    if may_edit():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            usual = name_for(current.name, listed, job.id)
            typed = st.text_input(
                "Name of the dataset",
                placeholder=usual,
                max_chars=200,
                key=f"_merge_into {job.id}",
                width=260,
            )
            running = tasks.find(key)
            if st.button(
                "Add to a rebalanced dataset",
                type="primary",
                key="_merge_job",
                disabled=running is not None and running.is_running,
            ):
                _start(current, job, clean_name(typed) or usual, key)
                st.rerun()
    if show_task(key):
        return
    for name in made_from(listed, job.id):
        _lead_on(name)


def _lead_on(name: str) -> None:
    """Draw links to the pages about a rebalanced dataset."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(bold(name))
        st.space("stretch")
        if st.button(
            "Compare before and after",
            key=f"_merged_compare {name}",
            icon=":material/compare_arrows:",
        ):
            st.session_state[url.COMPARED] = name
            url.go_to("compare")
        if st.button("Diagnose", key=f"_merged_diagnose {name}", icon=":material/balance:"):
            session.choose(name)
            url.clear()
            url.go_to("diagnose")


def _start(current: CurrentDataset, job: Job, into: str, key: str) -> None:
    """Start writing the rebalanced dataset in the background."""
    store, dataset, settings = current.store, current.name, session.settings()

    def work(progress: Progress) -> str:
        merged = merge_job(store, settings, read_job(store, job.id), into, progress=progress)
        return f"{merged.dataset}: the images of {dataset} and {merged.generated:,} generated ones."

    tasks.start(key, f"Writing {into}", work)


def _export(job: Job) -> None:
    st.markdown("**Train on them**")
    st.caption("The dataset with the accepted images as files, by this command in a terminal:")
    format_ = st.selectbox("Format", list(EXPORTERS), **choice_in_url("export_as"), width=180)
    st.caption(EXPORTERS[format_].purpose)
    st.code(export_command(job, format_), language=None, wrap_lines=True)
