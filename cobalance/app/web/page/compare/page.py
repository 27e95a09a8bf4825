"""Page Compare: compare the imbalances of two datasets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import (
    change_columns,
    classes_by_column,
    details,
    draw_story,
    mine_button,
)
from cobalance.app.web.page.compare.overview import (
    classes_compared,
    draw_statuses,
    draw_totals,
    numbers_text,
    step_numbers,
)
from cobalance.app.web.page.compare.splits import draw_splits
from cobalance.app.web.state import (
    CurrentDataset,
    in_url,
    named_in_url,
    number_in_url,
    session,
    url,
)
from cobalance.app.web.widgets import (
    Page,
    bold,
    caption_with_csv,
    draw_columns,
    empty_state,
    escape,
    in_app,
    shorten,
    unless_empty,
)
from cobalance.base import render
from cobalance.graph import StepId, compare_imbalances, dataset_state, read_copies, usual_measure
from cobalance.statistics import Comparison, statuses_of
from cobalance.workflows import describe_outcome, foretell, measure_bits

ROWS = 1000
HEIGHT_PX = 520

_STATUS, _SIZE, _GAP = "compare_status", "compare_size", "compare_gap"
_COUNTS = "compare_counts"


def page() -> None:
    """Draw the page."""
    before = session.current()
    others = others_than(before.name, session.datasets())
    _choose_pair(before, others)
    if draw_splits(before, other_datasets=bool(others)):
        return
    if not others:
        empty_state(
            "There is only one dataset",
            "Load a second version to compare with, such as the rebalanced one: on the "
            "**Data** page, or with `cobalance ingest` in a terminal.",
            icon=":material/compare_arrows:",
        )
        return

    sentence, choice = st.columns([8, 4], vertical_alignment="center")
    with choice.container(horizontal=True, vertical_alignment="bottom", key="_compare_choice"):
        after = _choose_after(before, others)
    if after is None:
        empty_state(
            f"No other version of {escape(shorten(before.name))}",
            "Choose the dataset to compare it with above. A version with the missing images is "
            "made on the **Make** page.",
            icon=":material/compare_arrows:",
        )
        draw_story(before, None, rebalanced=False)
        return
    for dataset in (before, after):
        if not dataset.is_mined:
            st.markdown(f"{bold(dataset.name)} has to be mined before it can be compared.")
            mine_button.offer(dataset)
            return

    _compare(before, after, sentence)
    details.draw(before, after=after)


def _choose_pair(before: CurrentDataset, others: list[str]) -> None:
    """Choose the likeliest pair of datasets, unless a person or the URL has chosen one."""
    if not others or url.is_compared(before.name, others):
        return
    first, second = _pair(before, others)
    url.compare(first, second)
    if first != before.name:
        session.choose(first)
        st.rerun()


def _compare(before: CurrentDataset, after: CurrentDataset, sentence: DeltaGenerator) -> None:
    """Draw the outcome, the graph step by step, its measures, and the table of changes."""
    # With something in it from the start, it keeps its place in page.css until the graph is there.
    story = st.container(key="_compare_story", gap=None)
    story.space(1)
    totals = st.container()
    # Drawn before the outcome, which is of the chosen measure and sizes.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        filters = _choose_cliques(before, after)
    left, right = st.columns([7, 5])
    known = statuses_of(filters["by"])
    with left:
        statuses = st.pills(
            "List those that are",
            known,
            selection_mode="multi",
            **in_url(_STATUS, known),
            label_visibility="collapsed",
        )
    filters["statuses"] = tuple(statuses) or known
    compare = partial(compare_imbalances, before.store, before.name, after.name, **filters)
    comparison = before.keep(lambda: compare(limit=ROWS), "comparison", after.state, filters)
    numbers = step_numbers(comparison)
    if comparison.by == "rates":
        comparison, foretold = _with_proof(comparison, before, after)
        numbers |= foretold

    sentence.header(escape(describe_outcome(comparison)), anchor=False)
    with totals:
        for note in comparison.notes:
            st.info(escape(render(note, in_app)), icon=":material/info:")
        draw_totals(comparison)
    with story.container():
        is_copy = read_copies(before.store).get(after.name) == before.name
        draw_story(
            before,
            after.state,
            rebalanced=is_copy,
            numbers=numbers,
            sides=classes_compared(comparison),
        )
    with left:
        _table(comparison, compare)
    with right:
        draw_statuses(comparison)


def _with_proof(
    comparison: Comparison, before: CurrentDataset, after: CurrentDataset
) -> tuple[Comparison, dict[StepId, str]]:
    """The comparison with its plan and bits of concepts alone, and numbers of the steps between."""
    names = before.store, before.name, after.name
    sizes, extends = tuple(comparison.summary["size"].tolist()), comparison.extends
    bits = before.keep(lambda: measure_bits(*names), "bits", after.state)
    planned, numbers = None, dict[StepId, str]()
    if extends:
        ordered, accepted = before.keep(
            lambda: [foretell(*names, sizes, images) for images in ("asked", "accepted")],
            "foretold",
            after.state,
            sizes,
        )
        if ordered:
            planned, numbers["plan"] = ordered[0], numbers_text(*ordered)
        if accepted:
            numbers["accepted"] = numbers_text(*accepted)
    return replace(comparison, planned=planned, bits=bits), numbers


def first_dataset(names: Sequence[str]) -> str:
    """The dataset that the page opens on: the original of the latest rebalanced one, if any."""
    return next(iter(read_copies(session.store()).values()), names[0])


PAGE = Page("Compare", "compare", ":material/compare_arrows:", page, first_dataset=first_dataset)


def pair_of(name: str, likely: str | None, copies: Mapping[str, str]) -> tuple[str, str | None]:
    """Pair a dataset with one that was rebalanced from it: before and after.

    `likely` is the dataset to take where none was made from the other; `copies` are from
    `cobalance.graph.queries.comparison.read_copies`.

    Examples
    --------
    >>> copies = {"a-2": "a", "a-1": "a"}
    >>> pair_of("a", "b", copies), pair_of("a-1", "b", copies), pair_of("b", None, copies)
    (('a', 'a-2'), ('a', 'a-1'), ('b', None))
    """
    # The latest copy is the first of them.
    for copy, original in copies.items():
        if original == name:
            return name, copy
    if name in copies:
        return copies[name], name
    return name, likely


def _pair(before: CurrentDataset, others: list[str]) -> tuple[str, str | None]:
    """Default pair of datasets to compare."""
    name, nearest = before.name, others[0]
    is_comparable = _are_comparable(name, session.datasets())[nearest]
    likely = nearest if is_comparable and _are_alike(name, nearest) else None
    return pair_of(name, likely, read_copies(before.store))


def _are_comparable(name: str, datasets: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each dataset, by name, is mined and has as many classes as one of them."""
    rows = datasets.set_index("dataset")
    return (rows["classes"] == rows.loc[name, "classes"]) & (rows["state"] == "ready")


def _are_alike(name: str, other: str) -> bool:
    """Whether one name begins with the other, as names of versions do."""
    return name.startswith(other) or other.startswith(name)


def _choose_after(before: CurrentDataset, others: list[str]) -> CurrentDataset | None:
    """Draw the choice of the second dataset; the first is chosen at the top of the page."""
    name = st.selectbox(
        "After",
        others,
        **named_in_url(url.COMPARED, None, others),
        placeholder="Choose a dataset",
        width=300,
    )
    if name is None:
        return None

    st.button(
        ":material/swap_horiz:",
        key="_compare_swap",
        help="Swap before and after",
        on_click=_swap,
        args=(before.name, name),
    )
    return CurrentDataset(before.store, dataset_state(before.store, name))


def others_than(name: str, datasets: pd.DataFrame) -> list[str]:
    """List the other datasets: comparable ones first, of these similar names first.

    Comparable datasets are mined and have as many classes; a like name is a prefix of the other.

    Examples
    --------
    >>> listed = pd.DataFrame(
    ...     {"dataset": ["a", "b", "c"], "classes": [2, 3, 2], "state": "ready"})
    >>> others_than("a", listed)
    ['c', 'b']
    """
    is_comparable = _are_comparable(name, datasets)

    def rank(other: str) -> tuple[bool, bool, str]:
        return not is_comparable[other], not _are_alike(name, other), other

    return sorted(is_comparable.index.drop(name), key=rank)


def _swap(before: str, after: str) -> None:
    st.session_state[session.DATASET] = after
    url.compare(after, before)
    url.clear()


def _choose_cliques(before: CurrentDataset, after: CurrentDataset) -> dict[str, Any]:
    """Draw the filters; return the measure of an imbalance and the sizes to compare."""
    largest = min(before.mining.max_size, after.mining.max_size)
    size = st.segmented_control(
        "Size",
        list(range(1, largest + 1)),
        **number_in_url(_SIZE),
        help="Concepts in a clique; all sizes where none is chosen.",
    )
    filters = {"min_size": size or 1, "max_size": size or largest}

    # Where a plan of counts made the second, counts are what it promised.
    usual = before.keep(
        lambda: usual_measure(before.store, before.name, after.name), "measure", after.state
    )
    by_counts = st.toggle(
        "As ConBias counts",
        usual == "counts",
        **in_url(_COUNTS),
        help="Gaps in images, whatever the sizes of the classes, in place of rates.",
    )
    if not by_counts:
        return {"by": "rates", **filters}
    min_gap = st.number_input(
        "Smallest gap",
        1,
        value=1,
        **number_in_url(_GAP),
        width=120,
        help="In images. A clique with a smaller gap counts as balanced.",
    )
    return {"by": "counts", "min_gap": min_gap, **filters}


def _table(comparison: Comparison, compare: Callable[..., Comparison]) -> None:
    """Draw the cliques of a comparison; `compare` makes it anew, with more of them, for a file."""
    cliques = comparison.cliques
    if cliques.empty:
        _draw_empty(comparison)
        return

    classes = classes_by_column(comparison)
    draw_columns(
        change_columns(comparison, classes),
        HEIGHT_PX,
        placeholder="-",
        alt="Cliques that are imbalanced in either dataset",
        **details.opened_by("_compare_table", cliques["concepts"].tolist(), classes.get),
    )

    n_more = sum(comparison.left_out.values())
    more = unless_empty("; {:,} more are in the file", n_more)
    caption_with_csv(
        f"{len(cliques):,} cliques, the largest change first{more}. A dash: the clique is absent "
        "there. Click a number for its images.",
        lambda: compare(limit=len(cliques) + n_more).cliques,
        "before-after.csv",
        key="_compare_csv",
    )


def _draw_empty(comparison: Comparison) -> None:
    """Say why no clique is listed: none is imbalanced, or none has the chosen status."""
    if comparison.summary[[*statuses_of(comparison.by)]].to_numpy().any():
        empty_state("No clique has this status", "Choose another status above, or none for all.")
    elif comparison.by == "rates":
        empty_state("Nothing leans", "In neither dataset a clique leans to a class beyond chance.")
    else:
        empty_state("No imbalance", "Neither dataset has a clique with such a gap.")
