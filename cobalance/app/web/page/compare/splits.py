"""Two splits of a dataset compared, such as train against validation."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.state import CurrentDataset, in_url
from cobalance.app.web.widgets import (
    caption_with_csv,
    choose_named,
    choose_view,
    draw_columns,
    empty_state,
    escape,
    shorten,
    text_column,
    unless_empty,
)
from cobalance.graph import compare_dataset_splits, split_sizes
from cobalance.statistics import FIRST, HOLDS, RATE, SECOND, ComparedSplits
from cobalance.workflows import (
    MOST_CLASSES,
    change_texts,
    describe_splits,
    difference_texts,
    q_text,
)

DATASETS, SPLITS = "Two datasets", "Two splits"
_VIEW, _FIRST, _SECOND, _HOLDS = "compare_what", "split_first", "split_second", "split_holds"
_ROWS = 1000
_HEIGHT_PX = 520
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
        comparison: ComparedSplits = current.read(compare_dataset_splits, first, second)
    _draw(comparison)
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
        first = choose_named("First split", ordered, _FIRST, width=200)
        # A split is compared with another one.
        others = [name for name in ordered if name != first]
        second = choose_named("Second split", others, _SECOND, others[-1], width=200)
    return first, second


def _draw(comparison: ComparedSplits) -> None:
    """Draw the summary, the filter by where an imbalance holds, and the table."""
    first, second = comparison.splits
    names = ("both", f"{first} alone", f"{second} alone", "the other way round", "neither")
    name_of = dict(zip(HOLDS, names, strict=True))
    st.markdown(escape(describe_splits(comparison)))
    chosen = st.pills(
        "Leaning to a class in",
        HOLDS,
        selection_mode="multi",
        format_func=lambda holds: escape(name_of[holds]),
        **in_url(_HOLDS),
    )

    cliques = comparison.cliques
    cliques = cliques[cliques["holds"].isin(chosen or HOLDS)]
    if cliques.empty:
        empty_state("No clique does", "Choose another above, or none for all.")
        return

    top = cliques.head(_ROWS)
    rates = {
        name: (top[f"{RATE}{FIRST}{name}"], top[f"{RATE}{SECOND}{name}"])
        for name in comparison.class_sizes[0]
    }
    columns = difference_columns(top, rates)
    columns["holds"] = (
        top["holds"].map(name_of).tolist(),
        text_column("Leans in", width=150),
    )
    draw_columns(
        columns, _HEIGHT_PX, alt="Cliques and how they lean in both splits, the surest first"
    )

    n_more = len(cliques) - len(top)
    more = unless_empty("; {:,} more are in the file", n_more)
    caption_with_csv(
        f"{len(top):,} cliques, the surest difference first{more}.",
        lambda: cliques,
        "splits.csv",
        key="_splits_csv",
    )


def difference_columns(
    cliques: pd.DataFrame, rates: Mapping[str, tuple["pd.Series[Any]", "pd.Series[Any]"]]
) -> dict[str, tuple[Any, Any]]:
    """Table columns for frames from `cobalance.statistics.difference.differences`.

    Rates, by class in either split, are left out where there are more classes than have columns of
    their own.
    """
    concepts = list(map(list, cliques["concepts"]))
    columns: dict[str, tuple[Any, Any]] = {
        "concepts": (concepts, st.column_config.ListColumn("Concepts", width=230))
    }

    if len(rates) <= MOST_CLASSES:
        for code, (name, pair) in enumerate(rates.items()):
            rate_column = text_column(
                f"% of {shorten(name, 20)}",
                alignment="right",
                width=120,
                help="Share of the class's images with the clique.",
            )
            # Numbered, as a class may be called like another column.
            columns[f"class {code}"] = (change_texts(*pair, ".1%"), rate_column)

    columns["difference"] = (
        difference_texts(cliques),
        text_column(
            "Log odds ratio changes [95%]",
            width=240,
            help="How much more the second leans to the class named first than the first does.",
        ),
    )
    columns["q-value"] = (
        cliques["q_value"].map(q_text).tolist(),
        text_column("q-value", width=75, help="Of no difference; Benjamini-Hochberg."),
    )
    return columns
