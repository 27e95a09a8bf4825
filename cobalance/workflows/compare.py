"""Comparisons of two datasets, or of two splits, in words and tables."""

from typing import Any

import pandas as pd

from cobalance.statistics.comparison import COUNT_AFTER, COUNT_BEFORE, STATUSES, Comparison
from cobalance.statistics.imbalance import COUNT, RATE
from cobalance.statistics.splits import FIRST, SECOND, ComparedSplits
from cobalance.workflows import cells


def comparison_table(found: Comparison) -> pd.DataFrame:
    """The columns of a comparison that fit a terminal; other formats have all."""
    cliques = found.cliques
    return pd.DataFrame(
        {
            "concepts": cliques["concepts"],
            **cluster_texts(cliques),
            **{
                name: cells.change_texts(cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name])
                for name in found.sizes_before
            },
            "gap": cells.change_texts(cliques["gap_before"], cliques["gap_after"]),
            "change": cliques["delta"],
            "imbalance": cliques["status"],
            "log odds ratio changes": difference_texts(cliques),
            "q-value": [cells.q_text(q) for q in cliques["q_value"]],
        }
    )


def cluster_texts(cliques: pd.DataFrame) -> dict[str, list[str]]:
    """The column of clusters that combinations stand in, where images of both are in clusters."""
    both = [cliques[name] for name in ("clusters_before", "clusters_after") if name in cliques]
    return {"clusters": cells.change_texts(both[0], both[1])} if len(both) == 2 else {}


def describe_comparison(found: Comparison) -> str:
    """Summarize a comparison in a few sentences."""
    totals = found.summary.sum(numeric_only=True)
    counts = ", ".join(f"{int(totals[name]):,} {name}" for name in STATUSES)
    left_out = sum(found.left_out.values())
    more = f" Smaller changes not listed: {left_out:,} (see --limit)." if left_out else ""
    gaps = cells.change_text(totals["total_gap_before"], totals["total_gap_after"])
    return f"Imbalances: {counts}. Sum of gaps: {gaps}.{more}"


def splits_table(found: ComparedSplits) -> pd.DataFrame:
    """The columns of two compared splits that people read; files have all."""
    cliques = found.cliques
    counts: dict[str, Any] = {}
    for name in found.class_sizes[0]:
        for label, what, form in ((name, COUNT, ",.0f"), (f"% of {name}", RATE, ".1%")):
            both = cliques[what + FIRST + name], cliques[what + SECOND + name]
            counts[label] = cells.change_texts(*both, form)
    where = dict(zip(("first", "second"), found.splits, strict=True))
    return pd.DataFrame(
        {
            "concepts": cliques["concepts"],
            **counts,
            "holds in": [where.get(name, name) for name in cliques["holds"]],
            "log odds ratio changes": difference_texts(cliques),
            "q-value": [cells.q_text(q) for q in cliques["q_value"]],
        }
    )


def difference_texts(frame: pd.DataFrame) -> list[str]:
    """Differences of log odds ratios with their intervals, and of which two classes."""
    texts = cells.log_odds_texts(frame, "log_odds_difference")
    both = zip(texts, cells.class_pairs(frame, "rises_in", "falls_in"), strict=True)
    return [text if text == "-" else f"{text} {pair}" for text, pair in both]


def describe_splits(found: ComparedSplits) -> str:
    """Say how many imbalances hold in both splits, and how many differ."""
    cliques, (first, second) = found.cliques, found.splits
    holds = cliques["holds"].value_counts()
    differ = int((cliques["q_value"] <= found.max_q_value).sum())
    return (
        f"{len(cliques):,} combinations, {first} {cells.ARROW} {second}: {holds['both']:,} lean to "
        f"a class in both, {holds['first']:,} in {first} alone, {holds['second']:,} in {second} "
        f"alone, {holds['opposite']:,} the other way round; {differ:,} differ between the two at a "
        f"q-value of {found.max_q_value:g}."
    )
