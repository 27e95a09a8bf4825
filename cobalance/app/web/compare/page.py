"""Page Before/after: compare the imbalances of two datasets."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.compare.differences import draw_differences
from cobalance.app.web.compare.overview import MOST_CLASSES, draw_chart, draw_sizes, draw_totals
from cobalance.app.web.compare.splits import draw_splits
from cobalance.app.web.components import mine_button
from cobalance.app.web.components.graph.story import draw_story
from cobalance.app.web.components.imbalances import details
from cobalance.app.web.state import session, url
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url, named_in_url, number_in_url
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.tables import count_column, draw_columns
from cobalance.app.web.widgets.theme import bold, escape, shorten
from cobalance.app.web.widgets.wording import in_app
from cobalance.base.errors import render
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.queries.comparison import compare_imbalances, read_copies
from cobalance.statistics.comparison import COUNT_AFTER, COUNT_BEFORE, STATUSES, Comparison
from cobalance.workflows.cells import change_texts, to_csv
from cobalance.workflows.compare import cluster_texts

ROWS = 1000
HEIGHT_PX = 520

_STATUS, _SIZE, _GAP = "compare_status", "compare_size", "compare_gap"


def page() -> None:
    """Draw the page."""
    before = session.current()
    others = others_than(before.name, session.datasets())
    if others and not url.is_compared(before.name, others):
        first, name = _pair(before, others)
        url.compare(first, name)
        if first != before.name:
            session.choose(first)
            st.rerun()
    if draw_splits(before, other_datasets=bool(others)):
        return
    if not others:
        empty_state(
            "There is only one dataset",
            "Load a second version to compare with, such as the rebalanced one: on the "
            "**Datasets** page, or with `cobalance ingest` in a terminal.",
            icon=":material/compare_arrows:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        after = _choose_after(before, others)
        place = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    if after is None:
        empty_state(
            f"No other version of {escape(shorten(before.name))}",
            "Choose the dataset to compare it with above. A version with the missing images is "
            "made on the **Jobs** page.",
            icon=":material/compare_arrows:",
        )
        draw_story(before, None, rebalanced=False)
        return
    unmined = next((dataset for dataset in (before, after) if not dataset.is_mined), None)
    if unmined is not None:
        st.markdown(f"{bold(unmined.name)} has to be mined before it can be compared.")
        mine_button.offer(unmined)
        return
    with place:
        filters = _choose_cliques(before, after)
    totals, story = st.container(), st.container()
    left, right = st.columns([7, 5])
    with left:
        chosen = st.pills(
            "List those that are",
            STATUSES,
            selection_mode="multi",
            **in_url(_STATUS),
            label_visibility="collapsed",
        )
        filters["statuses"] = tuple(chosen) or STATUSES
    compare = partial(compare_imbalances, before.store, before.name, after.name, **filters)
    found = before.keep(lambda: compare(limit=ROWS), "comparison", after.state, filters)
    with totals:
        for note in found.notes:
            st.info(escape(render(note, in_app)), icon=":material/info:")
        draw_totals(found)
    with story:
        copies = read_copies(before.store)
        draw_story(before, after.state, rebalanced=copies.get(after.name) == before.name)
    with left:
        _table(found, compare)
    with right:
        draw_sizes(found)
        draw_chart(found)
    draw_differences(before, after, filters)
    details.draw(before, after=after)


def first_dataset(names: Sequence[str]) -> str:
    """The dataset that the page opens on: the original of the latest rebalanced one, if any."""
    return next(iter(read_copies(session.store()).values()), names[0])


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
    latest = next((copy for copy, original in copies.items() if original == name), None)
    if latest is not None:
        return name, latest
    return (copies[name], name) if name in copies else (name, likely)


def _pair(before: CurrentDataset, others: list[str]) -> tuple[str, str | None]:
    """Default pair of datasets to compare."""
    listed = session.datasets().set_index("dataset")[["classes", "state"]].T.to_dict()
    near, name = others[0], before.name
    comparable = listed[near] == {"classes": listed[name]["classes"], "state": "ready"}
    named_alike = near.startswith(name) or name.startswith(near)
    likely = near if comparable and named_alike else None
    return pair_of(name, likely, read_copies(before.store))


def _choose_after(before: CurrentDataset, others: list[str]) -> CurrentDataset | None:
    """Draw both datasets; the first is chosen at the top of the page."""
    st.text_input(
        "Before", before.name, key=f"_compare_before {before.name}", disabled=True, width=200
    )
    name = st.selectbox(
        "After",
        others,
        **named_in_url(url.COMPARED, None, others),
        placeholder="Choose a dataset",
        width=200,
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
    known = datasets.set_index("dataset")
    alike = (known["classes"] == known.loc[name, "classes"]) & (known["state"] == "ready")

    def place(other: str) -> tuple[bool, bool, str]:
        return not alike[other], not (other.startswith(name) or name.startswith(other)), other

    return sorted(known.index.drop(name), key=place)


def _swap(before: str, after: str) -> None:
    st.session_state[session.DATASET] = after
    url.compare(after, before)
    url.clear()


def _choose_cliques(before: CurrentDataset, after: CurrentDataset) -> dict[str, Any]:
    """Draw the filters; return the smallest gap, and the smallest and the largest size."""
    largest = min(before.mining.max_size, after.mining.max_size)
    min_gap = st.number_input(
        "Smallest gap",
        1,
        value=1,
        **number_in_url(_GAP),
        width=120,
        help="In images. A clique with a smaller gap counts as balanced.",
    )
    size = st.segmented_control(
        "Size",
        list(range(1, largest + 1)),
        **number_in_url(_SIZE),
        help="Concepts in a clique; all sizes where none is chosen.",
    )
    return {"min_gap": min_gap, "min_size": size or 1, "max_size": size or largest}


def _table(found: Comparison, compare: Callable[..., Comparison]) -> None:
    cliques = found.cliques
    if cliques.empty:
        balanced = not found.summary[list(STATUSES)].to_numpy().any()
        empty_state(
            "No imbalance" if balanced else "No clique has this status",
            "Neither dataset has a clique with such a gap."
            if balanced
            else "Choose another status above, or none for all.",
        )
        return
    counted = list(found.sizes_before) if len(found.sizes_before) <= MOST_CLASSES else []
    classes = {f"class {code}": name for code, name in enumerate(counted)}
    text = st.column_config.TextColumn
    concepts = st.column_config.ListColumn("Concepts", width=175)
    draw_columns(
        {
            "concepts": (list(map(list, cliques["concepts"])), concepts),
            "status": (cliques["status"], text("Status", width=80)),
            "gap_before": (cliques["gap_before"], count_column("Gap", 52)),
            "gap_after": (cliques["gap_after"], count_column("Now", 52)),
            "delta": (cliques["delta"], count_column("Change", 62)),
        }
        | {
            column: (
                change_texts(cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name]),
                text(shorten(name, 20), alignment="right", width=105),
            )
            for column, name in classes.items()
        }
        | {
            name: (texts, text("Clusters", alignment="right", width=105))
            for name, texts in cluster_texts(cliques).items()
        },
        HEIGHT_PX,
        placeholder="-",
        alt="Cliques that are imbalanced in either dataset",
        **details.opened_by("_compare_table", cliques["concepts"].tolist(), classes.get),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        left_out = sum(found.left_out.values())
        st.caption(
            f"{len(cliques):,} cliques, the largest change first"
            + (f"; {left_out:,} more are in the file" if left_out else "")
            + ". A dash: the clique is absent there. Click a number for its images."
        )
        st.space("stretch")
        total = len(cliques) + left_out
        download(
            "CSV",
            lambda: to_csv(compare(limit=total).cliques),
            "before-after.csv",
            key="_compare_csv",
        )
