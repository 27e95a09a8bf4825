"""Diagnose's finding: a sentence about one combination, and pictures of the classes it compares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from cobalance.app.web.components import details, gallery
from cobalance.app.web.page.diagnose.table import ROW
from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import escape, meaning, row_values, shorten
from cobalance.base import inflect
from cobalance.graph import Ranking, clique_totals, read_cooccurrences, read_imbalances
from cobalance.statistics import COUNT, MAX_Q_VALUE
from cobalance.workflows import describe_compared, describe_mining, q_text
from cobalance.workflows.diagnose import findings

# As many as have room beside each other; what is wider is cut off.
STRIP_IMAGES, STRIP_PX = 8, 60


@dataclass(frozen=True)
class Finding:
    """The finding about a combination.

    `text` is Markdown; `counts` are its images by class, of the classes that the text compares.
    """

    text: str
    clique: url.Clique
    counts: Mapping[str, int]


def read(current: CurrentDataset) -> Finding:
    """Read the row that the URL names, or the strongest imbalance.

    Without two classes nothing leans, and it is the surest combination.
    """
    if findings.not_compared(current.class_sizes):
        surest = current.read(read_cooccurrences, Ranking(max_q_value=MAX_Q_VALUE, limit=1))
        if not surest.empty:
            return _of_cooccurrence(current, row_values(surest))

    totals = current.read(clique_totals)
    text = findings.count_leaning(totals.leaning, totals.cliques)
    chosen = details.read_row(current, url.named_clique(ROW) or ())
    if not chosen.empty or totals.leaning:
        strongest = current.read(read_imbalances, Ranking(limit=1))
        row = of_row(current, row_values(strongest if chosen.empty else chosen))
        return Finding(f"{text} {row.text}", row.clique, row.counts)
    return Finding(text, (), {})


def of_row(current: CurrentDataset, row: Mapping[str, Any]) -> Finding:
    """The finding about a row of the imbalance table."""
    clique = tuple(row["concepts"])
    counts = {name: int(row[COUNT + name]) for name in current.class_sizes}
    if not row["effect"]:
        text = f"{_emphasise(' + '.join(clique))} is as frequent in every class."
        first = gallery.order_classes(counts)[:2]
        return Finding(text, clique, {name: counts[name] for name in first})

    text = findings.describe_lean(row, current.class_sizes, _emphasise)
    # A person may choose a row without evidence.
    if row["q_value"] > MAX_Q_VALUE:
        text += f" Chance alone may do that (q-value {q_text(row['q_value'])})."
    compared = row["highest_rate"], row["lowest_rate"]
    return Finding(text, clique, {name: counts[name] for name in compared})


def _of_cooccurrence(current: CurrentDataset, row: Mapping[str, Any]) -> Finding:
    """The finding about a combination that is more or less frequent than by chance."""
    names = _emphasise(" + ".join(row["concepts"]))
    text = f"{row['images']:,} images show {names}; by chance {row['expected']:,.0f} would."
    # Its images are counted in all classes together, of which one alone has any.
    counts = {name: row["images"] for name, size in current.class_sizes.items() if size}
    return Finding(text, tuple(row["concepts"]), counts)


def _emphasise(name: str) -> str:
    return f"*{escape(shorten(name.strip() or '(no name)', 60).strip())}*"


def describe_numbers(current: CurrentDataset) -> str:
    """Explain in Markdown how it was counted and when a combination leans."""
    totals, compared = current.read(clique_totals), current.state.compared
    counted = describe_compared(compared, current.class_sizes) or describe_mining(current.mining)
    leaning = findings.describe_leaning(totals.leaning, totals.unproven)
    text = f"{inflect(totals.concepts, 'common concepts')}. {counted} {leaning}."
    if compared:
        text += " The graph and the matrix are of the dataset's own classes."
    return f"{escape(text)}\n\n{meaning('evidence')}"


def draw_strips(current: CurrentDataset, finding: Finding, key: str) -> None:
    """Draw the first images of each class that a finding compares, and its rate."""
    problems = set()
    places = st.columns(max(len(finding.counts), 1))
    for place, (class_name, images) in zip(places, finding.counts.items(), strict=False):
        size, name = current.class_sizes[class_name], f"**{escape(class_name)}**"
        with place.container(gap="xxsmall"):
            if not images:
                st.caption(f"{name} · none of {inflect(size, 'images')}")
                continue
            st.caption(f"{name} · {images:,} of {inflect(size, 'images')}, {images / size:.1%}")
            problem = gallery.strip(
                current, finding.clique, class_name, STRIP_IMAGES, STRIP_PX, key
            )
            problems.add(problem)
    for problem in problems - {None}:
        st.caption(problem)
