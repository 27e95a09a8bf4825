"""Comparisons of two datasets, or of two splits, in words and tables."""

from typing import Any

import pandas as pd

from cobalance.base import agree, text_if
from cobalance.statistics import (
    COUNT,
    COUNT_AFTER,
    COUNT_BEFORE,
    FIRST,
    RATE,
    SECOND,
    ComparedSplits,
    Comparison,
    statuses_of,
)
from cobalance.workflows import cells
from cobalance.workflows.plan import bits_text

MOST_CLASSES = 4
"""Classes that have columns; of more, those that a row compares are named."""
STATUS_MEANINGS = {
    "lost its lean": "leaned to a class before, and does not any more",
    "weaker": "leans in both, by less now, beyond chance",
    "within noise": "leans in both, and chance explains the change",
    "stronger": "leans in both, by more now, beyond chance",
    "new": "leans to a class now, and did not before",
    "solved": "a gap before, and none any more",
    "introduced": "a gap now, and none before",
    "reduced": "a gap in both, smaller now",
    "grown": "a gap in both, larger now",
    "unchanged": "the same gap in both",
    "absent": "imbalanced before; now no image shows it, a class lacks one of its concepts, or it "
    "was not mined",
}
"""Of a comparison by rates or by counts, what became of a combination."""


def comparison_table(comparison: Comparison) -> pd.DataFrame:
    """The columns of a comparison that fit a terminal; other formats have all."""
    cliques = comparison.cliques
    columns: dict[str, Any] = {"concepts": cliques["concepts"], **cluster_texts(cliques)}
    if comparison.by == "counts":
        for name in comparison.sizes_before:
            counts = cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name]
            columns[name] = cells.change_texts(*counts)
        columns["gap"] = cells.change_texts(cliques["gap_before"], cliques["gap_after"])
        columns |= {"change": cliques["delta"], "imbalance": cliques["status"]}
        return pd.DataFrame(columns)

    for name, (before, after) in rates_of(comparison).items():
        columns[f"% of {name}"] = cells.change_texts(before, after, ".1%")
    columns |= {
        "rate difference": cells.change_texts(
            cliques["difference_before"], cliques["difference_after"], ".1%"
        ),
        "leans to": cells.class_pairs(cliques, "highest", "lowest"),
        "imbalance": cliques["status"],
        "q-value of change": list(map(cells.q_text, cliques["q_value"])),
    }
    return pd.DataFrame(columns)


def rates_of(comparison: Comparison) -> dict[str, tuple["pd.Series[Any]", "pd.Series[Any]"]]:
    """Shares of each class's images before and after; empty where classes are many."""
    cliques = comparison.cliques
    if len(comparison.sizes_before) > MOST_CLASSES:
        return {}
    return {
        name: (
            cliques[COUNT_BEFORE + name].astype(float) / max(size, 1),
            cliques[COUNT_AFTER + name].astype(float) / max(comparison.sizes_after[name], 1),
        )
        for name, size in comparison.sizes_before.items()
    }


def cluster_texts(cliques: pd.DataFrame) -> dict[str, list[str]]:
    """The column of clusters that combinations stand in, where images of both are in clusters."""
    if "clusters_before" not in cliques or "clusters_after" not in cliques:
        return {}
    texts = cells.change_texts(cliques["clusters_before"], cliques["clusters_after"])
    return {"clusters": texts}


def describe_comparison(comparison: Comparison) -> str:
    """Summarize a comparison in a few sentences."""
    totals = comparison.totals()
    by_status = []
    for status in statuses_of(comparison.by):
        number = int(totals[status])
        by_status.append(f"{number:,} {agree(number, status, status.replace('its', 'their'))}")
    counts = ", ".join(by_status)

    left_out = sum(comparison.left_out.values())
    more = text_if(left_out, f" Smaller changes not listed: {left_out:,} (see --limit).")
    if comparison.by == "counts":
        gaps = cells.change_text(totals["total_gap_before"], totals["total_gap_after"])
        return f"Imbalances by counts: {counts}. Sum of gaps: {gaps}.{more}"

    leaned = int(totals["leaning_before"])
    differences = cells.change_text(totals["difference_before"], totals["difference_after"], ".2f")
    sentences = [describe_outcome(comparison), f"{counts}."]
    if leaned:
        sentences.append(f"The rates of the {leaned:,} that leaned differ by {differences} in all.")
    if comparison.bits:
        sentences.append(f"Concepts alone tell {bits_text(comparison.bits)} of the class.")
    return " ".join(sentences) + more


def describe_outcome(comparison: Comparison) -> str:
    """How many combinations lean now and before, and how far the largest difference changed.

    Of a comparison by counts, what is left of the gaps.
    """
    totals = comparison.totals()
    if comparison.by == "counts":
        return (
            f"The gaps between the classes sum to {int(totals['total_gap_after']):,} images; they "
            f"did to {int(totals['total_gap_before']):,}."
        )

    leaned, leans = int(totals["leaning_before"]), int(totals["leaning_after"])
    planned = ""
    if comparison.planned is not None:
        # A plan knows the combinations that were mined before. New ones are tested with all others.
        of_before = ""
        if totals["mined_before"] != totals["mined_after"]:
            of_before = f" of {int(totals['mined_before']):,}"
        planned = f" (planned {comparison.planned:,}{of_before}, got {leans:,})"
    largest = cells.change_text(totals["largest_before"], totals["largest_after"], ".1%")
    verb = agree(leans, "leans", "lean")
    return (
        f"{leans:,} of {int(totals['mined_after']):,} combinations {verb} to a class; {leaned:,} "
        f"did{planned}. The largest rate difference is {largest}."
    )


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
