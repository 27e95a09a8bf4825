"""Totals of a comparison: metrics, and a table by clique size."""

import pandas as pd
import streamlit as st

from cobalance.app.web.widgets.tables import count_column, draw_columns
from cobalance.graph.diagnosis.comparison import STATUSES, Comparison
from cobalance.workflows.cells import change_text, change_texts

_MEANINGS = {
    "solved": "imbalanced before, and not any more",
    "introduced": "imbalanced now, and not before",
    "reduced": "imbalanced in both, with a smaller gap now",
    "grown": "imbalanced in both, with a larger gap now",
    "unchanged": "imbalanced in both, with the same gap",
    "absent": "imbalanced before; now no image shows it, a class lacks one of its concepts, or it "
    "was not mined",
}


def totals_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Totals of a comparison by clique size and in all.

    Returns
    -------
    pandas.DataFrame
        ``size`` (text; "all" in the last row), ``imbalanced_before``, ``imbalanced_after``,
        ``total_gap_before``, ``total_gap_after``, and a column for each status.
    """
    statuses = summary[list(STATUSES)]
    frame = pd.DataFrame(
        {
            "size": summary["size"].astype(str),
            "imbalanced_before": statuses.drop(columns="introduced").sum(axis=1),
            "imbalanced_after": statuses.drop(columns=["solved", "absent"]).sum(axis=1),
            "total_gap_before": summary["total_gap_before"],
            "total_gap_after": summary["total_gap_after"],
        }
    ).join(statuses)
    total = pd.DataFrame([{**frame.sum(numeric_only=True).to_dict(), "size": "all"}])
    return pd.concat([frame, total], ignore_index=True)[frame.columns]


def draw_totals(found: Comparison) -> None:
    """Draw the totals of all sizes as metrics, and the number of cliques of each status."""
    row = totals_of(found.summary).iloc[-1]
    with st.container(horizontal=True, key="_compare_totals"):
        for label, name in (("Imbalanced cliques", "imbalanced"), ("Sum of gaps", "total_gap")):
            before, after = int(row[f"{name}_before"]), int(row[f"{name}_after"])
            st.metric(
                label,
                change_text(before, after),
                f"{after - before:+,}" if after != before else None,
                delta_color="inverse",
                width="content",
            )
        st.space("small")
        for name in STATUSES:
            st.metric(
                name.capitalize(), f"{int(row[name]):,}", help=f"{_MEANINGS[name].capitalize()}."
            )


def draw_sizes(found: Comparison) -> None:
    """Draw the totals of each size as a table."""
    totals = totals_of(found.summary)
    text = st.column_config.TextColumn
    imbalanced, gaps = (
        change_texts(totals[f"{name}_before"], totals[f"{name}_after"])
        for name in ("imbalanced", "total_gap")
    )
    draw_columns(
        {
            "size": (totals["size"], text("Size", width=45)),
            "imbalanced": (imbalanced, text("Imbalanced", alignment="right", width=110)),
            "total_gap": (gaps, text("Sum of gaps", alignment="right", width=130)),
            "solved": (totals["solved"], count_column("Solved", 60)),
            "introduced": (totals["introduced"], count_column("Introduced", 80)),
        },
        None,
        alt="Imbalances of each size, before and after",
    )
