"""Table of how imbalances differ between two sets of images, with evidence."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.compare.overview import MOST_CLASSES
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.tables import draw_columns
from cobalance.app.web.widgets.theme import shorten
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import DatasetState
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.statistics.comparison import COUNT_AFTER, COUNT_BEFORE, Comparison
from cobalance.statistics.q_values import MAX_Q_VALUE
from cobalance.workflows.cells import change_texts, q_text, to_csv
from cobalance.workflows.compare import difference_texts

HEIGHT_PX = 520
_OPEN = "compare_evidence"
_ROWS = 1000

Rates = Mapping[str, tuple["pd.Series[Any]", "pd.Series[Any]"]]
"""Shares of each class's images in either set, by class."""


def draw_differences(
    before: CurrentDataset, after: CurrentDataset, filters: Mapping[str, Any]
) -> None:
    """Draw which cliques two datasets differ in most surely; read once it is opened.

    `filters` are options of `cobalance.graph.queries.comparison.compare_imbalances`.
    """
    place = st.expander("Evidence that they differ", **in_url(_OPEN), on_change="rerun")
    if not place.open:
        return
    with place:
        found: Comparison = before.read(surest_differences, after.state, **filters)
        cliques, sizes = found.cliques, (found.sizes_before, found.sizes_after)
        rates = {
            name: (
                cliques[COUNT_BEFORE + name].astype(float) / max(sizes[0][name], 1),
                cliques[COUNT_AFTER + name].astype(float) / max(sizes[1][name], 1),
            )
            for name in sizes[0]
        }
        draw_columns(
            difference_columns(cliques, rates),
            HEIGHT_PX,
            alt="Cliques whose leaning differs between the datasets, the surest first",
        )
        differ = int((cliques["q_value"] <= MAX_Q_VALUE).sum())
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"{len(cliques):,} cliques, the surest first; {differ:,} differ at a q-value of "
                f"{MAX_Q_VALUE:g}. The test takes both for independent samples: between versions "
                "that share images it is cautious."
            )
            st.space("stretch")
            download("CSV", lambda: to_csv(cliques), "differences.csv", key="_compare_surest")


def surest_differences(
    store: GraphStore, before: str, after: DatasetState, **filters: Any
) -> Comparison:
    """Compare two datasets, with the cliques that differ most surely first."""
    found = compare_imbalances(store, before, after.name, **filters, limit=2**62)
    known = found.cliques[found.cliques["log_odds_difference"].notna()]
    effect = known["log_odds_difference"].abs()
    order = known.assign(effect=-effect).sort_values(["p_value", "effect"], kind="stable")
    surest = order.drop(columns="effect").head(_ROWS).reset_index(drop=True)
    return replace(found, cliques=surest)


def difference_columns(cliques: pd.DataFrame, rates: Rates) -> dict[str, tuple[Any, Any]]:
    """Table columns for frames from `cobalance.statistics.difference.differences`.

    Rates are left out where there are more classes than have columns of their own.
    """
    text = st.column_config.TextColumn
    shown: dict[str, tuple[Any, Any]] = {
        "concepts": (
            [list(names) for names in cliques["concepts"]],
            st.column_config.ListColumn("Concepts", width=230),
        )
    }
    for code, (name, pair) in enumerate(rates.items()):
        if len(rates) <= MOST_CLASSES:
            shown[f"class {code}"] = (
                change_texts(*pair, ".1%"),
                text(
                    f"% of {shorten(name, 20)}",
                    alignment="right",
                    width=120,
                    help="Share of the class's images with the clique.",
                ),
            )
    return shown | {
        "difference": (
            difference_texts(cliques),
            text(
                "Log odds ratio changes [95%]",
                width=240,
                help="How much more the second leans to the class named first than the first does.",
            ),
        ),
        "q-value": (
            [q_text(q) for q in cliques["q_value"]],
            text("q-value", width=75, help="Of no difference; Benjamini-Hochberg."),
        ),
    }
