"""Table of cliques before and after a change, by rates or by counts."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from cobalance.app.web.widgets import count_column, shorten, text_column
from cobalance.statistics import COUNT_AFTER, COUNT_BEFORE, Comparison
from cobalance.workflows import (
    MOST_CLASSES,
    change_texts,
    class_pairs,
    cluster_texts,
    q_text,
    rates_of,
)

_numbers = partial(text_column, alignment="right", width=115)


def classes_by_column(comparison: Comparison) -> dict[str, str]:
    """The classes that have columns, by these; none where they are many."""
    if len(comparison.sizes_before) > MOST_CLASSES:
        return {}
    # Numbered, as a class may be called like another column.
    return {f"class {code}": name for code, name in enumerate(comparison.sizes_before)}


def change_columns(
    comparison: Comparison, classes: Mapping[str, str]
) -> dict[str, tuple[Any, ColumnConfig]]:
    """The table's columns; `classes` is from `classes_by_column`."""
    cliques = comparison.cliques
    concepts = list(map(list, cliques["concepts"]))
    columns: dict[str, tuple[Any, ColumnConfig]] = {
        "concepts": (concepts, st.column_config.ListColumn("Concepts", width=175)),
        "status": (cliques["status"], text_column("Status", width=95)),
    }
    if comparison.by == "rates":
        columns |= _rate_columns(comparison, classes)
    else:
        columns["gap_before"] = (cliques["gap_before"], count_column("Gap", 52))
        columns["gap_after"] = (cliques["gap_after"], count_column("Now", 52))
        columns["delta"] = (cliques["delta"], count_column("Change", 62))
        for column, name in classes.items():
            texts = change_texts(cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name])
            columns[column] = (texts, _numbers(shorten(name, 20)))

    for column, texts in cluster_texts(cliques).items():
        columns[column] = (texts, _numbers("Clusters"))
    return columns


def _rate_columns(
    comparison: Comparison, classes: Mapping[str, str]
) -> dict[str, tuple[Any, ColumnConfig]]:
    """Columns of rate differences, the classes that they are of, rates and evidence."""
    cliques = comparison.cliques
    differences = cliques["difference_before"], cliques["difference_after"]
    columns = {
        "difference": (
            change_texts(*differences, ".1%"),
            _numbers("Rate difference", help="In each version of the two classes furthest apart."),
        ),
        "leans_to": (
            class_pairs(cliques, "highest", "lowest"),
            text_column(
                "Leans to",
                width=95,
                help="The class with the highest rate, against the one with the lowest: before, or "
                "now where the lean is new. The q-value is of these two.",
            ),
        ),
    }

    rates = rates_of(comparison)
    for column, name in classes.items():
        columns[column] = (
            change_texts(*rates[name], ".1%"),
            _numbers(f"% of {shorten(name, 20)}"),
        )
    columns["q_value"] = (
        cliques["q_value"].map(q_text).tolist(),
        text_column("q-value", width=70, help="Of no change in the rates of these two classes."),
    )
    return columns
