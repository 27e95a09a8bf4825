"""Mine a dataset from a page, where its cliques are missing or out of date."""

import streamlit as st

from app.views.state import tasks
from app.views.state.access import may_edit
from app.views.state.session import CurrentDataset, store
from app.views.widgets.messages import empty_state
from app.views.widgets.task_progress import show_task
from graph.dataset.mining import MAX_CLIQUES, MiningOptions, mine_dataset
from graph.progress import Progress


def offer(current: CurrentDataset) -> None:
    """Draw that the dataset is not mined, with a form to mine it."""
    key = f"mine {current.name}"
    if show_task(key):
        return
    current.state.require_complete()
    changed = current.state.mining is not None
    empty_state(
        "The dataset has changed since it was mined" if changed else "Not mined yet",
        "Mining counts every combination of concepts in every class.",
        icon=":material/balance:",
    )
    if not may_edit():
        return
    with st.form("_mine", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        max_size = st.number_input("Largest clique", 1, 6, 3, width=150)
        min_support = st.number_input(
            "Minimum images in the most frequent class", 1, value=1, width=260
        )
        if st.form_submit_button("Mine", type="primary"):
            start(current.name, MiningOptions(max_size, min_support))
            st.rerun()


def start(dataset: str, options: MiningOptions) -> None:
    """Start mining a dataset in the background."""
    opened = store()

    def work(progress: Progress) -> str:
        report = mine_dataset(opened, dataset, options, max_cliques=MAX_CLIQUES, progress=progress)
        return f"Found {sum(report.by_size.values()):,} cliques."

    tasks.start(f"mine {dataset}", f"Mining {dataset}", work)
