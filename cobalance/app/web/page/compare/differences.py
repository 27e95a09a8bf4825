"""Table of how imbalances differ between two sets of images, with evidence."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.page.compare.overview import MOST_CLASSES
from cobalance.app.web.state import CurrentDataset, in_url
from cobalance.app.web.widgets import caption_with_csv, draw_columns, shorten, text_column
from cobalance.base import NO_LIMIT
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import DatasetState
from cobalance.graph.queries import compare_imbalances
from cobalance.statistics import COUNT_AFTER, COUNT_BEFORE, MAX_Q_VALUE, Comparison
from cobalance.workflows.cells import change_texts, q_text
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
        comparison: Comparison = before.read(surest_differences, after.state, **filters)
        cliques = comparison.cliques
        draw_columns(
            difference_columns(cliques, _rates_of(comparison)),
            HEIGHT_PX,
            alt="Cliques whose leaning differs between the datasets, the surest first",
        )

        n_different = int((cliques["q_value"] <= MAX_Q_VALUE).sum())
        caption_with_csv(
            f"{len(cliques):,} cliques, the surest first; {n_different:,} differ at a q-value of "
            f"{MAX_Q_VALUE:g}. The test takes both for independent samples: between versions "
            "that share images it is cautious.",
            lambda: cliques,
            "differences.csv",
            key="_compare_surest",
        )


def _rates_of(comparison: Comparison) -> Rates:
    """Shares of each class's images before and after; 0 of a class without images."""
    counts = comparison.cliques
    return {
        name: (
            counts[COUNT_BEFORE + name].astype(float) / max(size_before, 1),
            counts[COUNT_AFTER + name].astype(float) / max(comparison.sizes_after[name], 1),
        )
        for name, size_before in comparison.sizes_before.items()
    }


def surest_differences(
    store: GraphStore, before: str, after: DatasetState, **filters: Any
) -> Comparison:
    """Compare two datasets, with the cliques that differ most surely first."""
    comparison = compare_imbalances(store, before, after.name, **filters, limit=NO_LIMIT)
    # A clique that one of them lacks has no difference.
    cliques = comparison.cliques[comparison.cliques["log_odds_difference"].notna()]
    effect = cliques["log_odds_difference"].abs()
    ordered = cliques.assign(effect=-effect).sort_values(["p_value", "effect"], kind="stable")
    surest = ordered.drop(columns="effect").head(_ROWS).reset_index(drop=True)
    return replace(comparison, cliques=surest)


def difference_columns(cliques: pd.DataFrame, rates: Rates) -> dict[str, tuple[Any, Any]]:
    """Table columns for frames from `cobalance.statistics.difference.differences`.

    Rates are left out where there are more classes than have columns of their own.
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
