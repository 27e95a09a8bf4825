"""Comparisons of two datasets, or of two splits, in words and tables."""

from typing import Any

import pandas as pd

from cobalance.base import text_if
from cobalance.statistics import (
    COUNT,
    COUNT_AFTER,
    COUNT_BEFORE,
    FIRST,
    RATE,
    SECOND,
    STATUSES,
    ComparedSplits,
    Comparison,
)
from cobalance.workflows import cells


def comparison_table(comparison: Comparison) -> pd.DataFrame:
    """The columns of a comparison that fit a terminal; other formats have all."""
    cliques = comparison.cliques
    columns: dict[str, Any] = {"concepts": cliques["concepts"], **cluster_texts(cliques)}
    for name in comparison.sizes_before:
        columns[name] = cells.change_texts(
            cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name]
        )

    columns |= {
        "gap": cells.change_texts(cliques["gap_before"], cliques["gap_after"]),
        "change": cliques["delta"],
        "imbalance": cliques["status"],
        "log odds ratio changes": difference_texts(cliques),
        "q-value": list(map(cells.q_text, cliques["q_value"])),
    }
    return pd.DataFrame(columns)


def cluster_texts(cliques: pd.DataFrame) -> dict[str, list[str]]:
    """The column of clusters that combinations stand in, where images of both are in clusters."""
    if "clusters_before" not in cliques or "clusters_after" not in cliques:
        return {}
    texts = cells.change_texts(cliques["clusters_before"], cliques["clusters_after"])
    return {"clusters": texts}


def describe_comparison(comparison: Comparison) -> str:
    """Summarize a comparison in a few sentences."""
    totals = comparison.summary.sum(numeric_only=True)
    counts = ", ".join(f"{int(totals[name]):,} {name}" for name in STATUSES)
    left_out = sum(comparison.left_out.values())
    more = text_if(left_out, f" Smaller changes not listed: {left_out:,} (see --limit).")
    gaps = cells.change_text(totals["total_gap_before"], totals["total_gap_after"])
    return f"Imbalances: {counts}. Sum of gaps: {gaps}.{more}"


def splits_table(compared: ComparedSplits) -> pd.DataFrame:
    """The columns of two compared splits that people read; files have all."""
    cliques = compared.cliques
    columns: dict[str, Any] = {"concepts": cliques["concepts"]}
    for name in compared.class_sizes[0]:
        for label, prefix, form in ((name, COUNT, ",.0f"), (f"% of {name}", RATE, ".1%")):
            first, second = cliques[prefix + FIRST + name], cliques[prefix + SECOND + name]
            columns[label] = cells.change_texts(first, second, form)

    # An imbalance holds in one of the splits, or as its words say.
    splits = dict(zip(("first", "second"), compared.splits, strict=True))
    columns |= {
        "holds in": [splits.get(name, name) for name in cliques["holds"]],
        "log odds ratio changes": difference_texts(cliques),
        "q-value": list(map(cells.q_text, cliques["q_value"])),
    }
    return pd.DataFrame(columns)


def difference_texts(frame: pd.DataFrame) -> list[str]:
    """Differences of log odds ratios with their intervals, and of which two classes."""
    texts = cells.log_odds_texts(frame, "log_odds_difference")
    pairs = cells.class_pairs(frame, "rises_in", "falls_in")
    return [
        text if text == "-" else f"{text} {pair}" for text, pair in zip(texts, pairs, strict=True)
    ]


def describe_splits(compared: ComparedSplits) -> str:
    """Say how many imbalances hold in both splits, and how many differ."""
    cliques, (first, second) = compared.cliques, compared.splits
    holds = cliques["holds"].value_counts()
    differ = int((cliques["q_value"] <= compared.max_q_value).sum())

    return (
        f"{len(cliques):,} combinations, {first} {cells.ARROW} {second}: {holds['both']:,} lean to "
        f"a class in both, {holds['first']:,} in {first} alone, {holds['second']:,} in {second} "
        f"alone, {holds['opposite']:,} the other way round; {differ:,} differ between the two at a "
        f"q-value of {compared.max_q_value:g}."
    )
