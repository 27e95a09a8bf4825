"""Two splits of a dataset compared, such as train against validation."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.compare.differences import HEIGHT_PX, difference_columns
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url, named_in_url
from cobalance.app.web.widgets.controls import choose_view, download
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.tables import draw_columns
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.dataset.names import split_sizes
from cobalance.graph.queries.comparison import compare_dataset_splits
from cobalance.statistics.imbalance import RATE
from cobalance.statistics.splits import FIRST, HOLDS, SECOND, ComparedSplits
from cobalance.workflows.cells import to_csv
from cobalance.workflows.compare import describe_splits

DATASETS, SPLITS = "Two datasets", "Two splits"
_VIEW, _FIRST, _SECOND, _HOLDS = "compare_what", "split_first", "split_second", "split_holds"
_ROWS = 1000
_TRAINING = ("train", "training")


def draw_splits(current: CurrentDataset, *, other_datasets: bool) -> bool:
    """Offer a comparison of splits if the dataset has two, and draw it if chosen.

    Where there are other datasets to compare with, these are the default. Returns whether splits
    were chosen and drawn.
    """
    names = [name for name in current.read(split_sizes) if name is not None]
    if len(names) < 2:
        return False
    views = (DATASETS, SPLITS) if other_datasets else (SPLITS, DATASETS)
    if choose_view("What is compared", views, _VIEW, named=True) == DATASETS:
        return False
    first, second = _choose(names)
    with st.spinner("Counting both splits"):
        found: ComparedSplits = current.read(compare_dataset_splits, first, second)
    _draw(found)
    return True


def in_training_order(names: Sequence[str]) -> list[str]:
    """Names of splits, that for training first.

    Examples
    --------
    >>> in_training_order(["test", "train", "val"])
    ['train', 'test', 'val']
    """
    return sorted(names, key=lambda name: (name.casefold() not in _TRAINING, names.index(name)))


def _choose(names: Sequence[str]) -> tuple[str, str]:
    """Draw both splits: at first that for training, and the last of the others."""
    ordered = in_training_order(names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.selectbox(
            "First split", ordered, **named_in_url(_FIRST, ordered[0], ordered), width=200
        )
        first = first or ordered[0]
        others = [name for name in ordered if name != first]
        second = st.selectbox(
            "Second split", others, **named_in_url(_SECOND, others[-1], others), width=200
        )
    return first, second or others[-1]


def _draw(found: ComparedSplits) -> None:
    """Draw the summary, the filter by where an imbalance holds, and the table."""
    names = ("both", *(f"{name} alone" for name in found.splits), "the other way round", "neither")
    meant = dict(zip(HOLDS, names, strict=True))
    st.markdown(escape(describe_splits(found)))
    chosen = st.pills(
        "Leaning to a class in",
        HOLDS,
        selection_mode="multi",
        format_func=lambda name: escape(meant[name]),
        **in_url(_HOLDS),
    )
    cliques = found.cliques
    cliques = cliques[cliques["holds"].isin(chosen or HOLDS)]
    if cliques.empty:
        empty_state("No clique does", "Choose another above, or none for all.")
        return
    top = cliques.head(_ROWS)
    rates = {
        name: (top[f"{RATE}{FIRST}{name}"], top[f"{RATE}{SECOND}{name}"])
        for name in found.class_sizes[0]
    }
    columns = difference_columns(top, rates)
    columns["holds"] = (
        [meant[name] for name in top["holds"]],
        st.column_config.TextColumn("Leans in", width=150),
    )
    draw_columns(
        columns, HEIGHT_PX, alt="Cliques and how they lean in both splits, the surest first"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        left_out = len(cliques) - len(top)
        st.caption(
            f"{len(top):,} cliques, the surest difference first"
            + (f"; {left_out:,} more are in the file." if left_out else ".")
        )
        st.space("stretch")
        download("CSV", lambda: to_csv(cliques), "splits.csv", key="_splits_csv")
