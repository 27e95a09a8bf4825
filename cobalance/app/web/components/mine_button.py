"""Mine a dataset from a page, where its cliques are missing or out of date."""

import streamlit as st

from cobalance.app.web.state import CurrentDataset, may_edit, store, tasks
from cobalance.app.web.widgets import empty_state, show_task
from cobalance.base import Progress
from cobalance.counting import MiningOptions
from cobalance.graph import MAX_CLIQUES, DatasetState, GraphStore
from cobalance.workflows import mine


def offer(current: CurrentDataset) -> None:
    """Draw that the dataset is not mined, with a form to mine it."""
    key = f"mine {current.name}"
    if show_task(key):
        return
    current.state.require_complete()

    was_mined = current.state.mining is not None
    empty_state(
        "The dataset has changed since it was mined" if was_mined else "Not mined yet",
        "Mining counts every combination of concepts in every class.",
        icon=":material/balance:",
    )
    if not may_edit():
        return
    with st.form("_mine", border=False):
        options = fields(current, f"_mine {current.name}")
        if st.form_submit_button("Mine", type="primary"):
            start(current.name, options)
            st.rerun()


def last_options(state: DatasetState) -> MiningOptions:
    """Options of the last mining, or the proposed ones before the first."""
    if state.mining:
        return state.mining_options()
    return state.mining_options(max_size=3)


def fields(current: CurrentDataset, key: str) -> MiningOptions:
    """Draw the options of mining, initially as in the last run.

    The keys of the widgets begin with `key`.
    """
    last = last_options(current.state)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        max_size = st.number_input(
            "Most concepts in a clique", 1, max(6, last.max_size), last.max_size, key=f"{key}_size"
        )
        min_support = st.number_input(
            "Minimum images in its most frequent class",
            1,
            value=last.min_support,
            key=f"{key}_support",
            help="A clique stays when any class has that many, whatever the others have.",
        )
    split = st.text_input(
        "Only images of this split", last.split or "", placeholder="all", key=f"{key}_split"
    )

    # An empty tuple asks for no common class, None for all classes.
    any_class = st.checkbox(
        "Keep concepts that some class never shows",
        last.common == (),
        key=f"{key}_any",
        help="Otherwise a clique's concepts all occur with every class.",
    )
    common = () if any_class else last.common or None
    if common:
        st.text(f"As before, every concept occurs with: {', '.join(common)}.")
    return MiningOptions(int(max_size), int(min_support), common, split, last.confidence)


def start(dataset: str, options: MiningOptions) -> None:
    """Start mining a dataset in the background."""
    opened = store()
    tasks.start(
        f"mine {dataset}",
        f"Mining {dataset}",
        lambda progress: mine_now(opened, dataset, options, progress),
    )


def mine_now(opened: GraphStore, dataset: str, options: MiningOptions, progress: Progress) -> str:
    """Mine a dataset; return the outcome in a sentence."""
    report = mine(opened, dataset, options, max_cliques=MAX_CLIQUES, progress=progress)
    return f"{report.describe()} Found {sum(report.by_size.values()):,} cliques."
