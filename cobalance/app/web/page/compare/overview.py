"""Totals of a comparison, and the meaning of its statuses."""

from collections.abc import Mapping, Sequence

import streamlit as st

from cobalance.app.web.widgets import (
    count_column,
    draw_columns,
    minus_signs,
    text_column,
)
from cobalance.graph import StepId
from cobalance.statistics import Comparison, statuses_of
from cobalance.workflows import STATUS_MEANINGS, bits_text, change_text, signed_text

_LEANING = "Combinations whose rates differ between the classes beyond chance, q of at most 0.05."


def classes_compared(comparison: Comparison) -> Sequence[str]:
    """The two classes of the largest change of rates, to draw the graph between, if any."""
    if comparison.by == "counts" or comparison.cliques.empty:
        return ()
    first = comparison.cliques.iloc[0]
    return first["lowest"], first["highest"]


def step_numbers(comparison: Comparison) -> dict[StepId, str]:
    """Numbers below the first and the last step of the graph: how many lean, and by how much."""
    totals = comparison.totals()
    steps: dict[StepId, str] = {"dataset": "before", "after": "after"}
    if comparison.by == "counts":
        gaps = {step: totals[f"total_gap_{version}"] for step, version in steps.items()}
        return {step: f"gaps of {gap:,.0f} images" for step, gap in gaps.items()}
    return {
        step: numbers_text(totals[f"leaning_{version}"], totals[f"largest_{version}"])
        for step, version in steps.items()
    }


def numbers_text(leaning: float, largest: float) -> str:
    """Word how many combinations lean, and the largest difference: ``673 lean, most 69.7%``."""
    return f"{leaning:,.0f} lean, most {largest:.1%}"


def draw_totals(comparison: Comparison) -> None:
    """Draw the measures of a comparison."""
    totals = comparison.totals()
    with st.container(horizontal=True, key="_compare_totals"):
        if comparison.by == "rates":
            _draw_rates(comparison, totals)
        else:
            _draw_change("Sum of gaps", totals["total_gap_before"], totals["total_gap_after"])


def draw_statuses(comparison: Comparison) -> None:
    """Draw how many cliques have each status, as a table with its meaning."""
    totals, names = comparison.totals(), list(statuses_of(comparison.by))
    draw_columns(
        {
            "of": (names, text_column("Status", width=95)),
            "cliques": ([int(totals[name]) for name in names], count_column("Cliques", 70)),
            "meaning": ([STATUS_MEANINGS[name] for name in names], text_column("Meaning")),
        },
        None,
        alt="How many cliques have each status",
    )


def _draw_rates(comparison: Comparison, totals: Mapping[str, float]) -> None:
    leaning = totals["leaning_before"], totals["leaning_after"]
    _draw_change("Lean to a class", *leaning, purpose=_LEANING)
    largest = totals["largest_before"], totals["largest_after"]
    _draw_change("Largest difference", *largest, ".1%", "Of those that lean before or after.")
    sums = totals["difference_before"], totals["difference_after"]
    _draw_change("Rate differences", *sums, ".2f", "The sum of those of what leaned before.")
    if comparison.bits:
        st.metric(
            "Concepts alone tell",
            minus_signs(bits_text(comparison.bits)),
            help="Of the class of images that the model has not seen; 0 is no shortcut.",
        )


def _draw_change(
    label: str, before: float, after: float, form: str = ",.0f", purpose: str | None = None
) -> None:
    """Draw a measure before and after; less is better."""
    # Streamlit draws an arrow upwards for a change of 0, and for a minus sign.
    delta = None if after == before else signed_text(after - before, form)
    st.metric(
        label,
        change_text(before, after, form),
        delta,
        delta_color="green" if after < before else "red",
        delta_arrow="down" if after < before else "up",
        width="content",
        help=purpose,
    )
