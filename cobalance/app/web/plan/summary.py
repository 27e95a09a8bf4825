"""What a plan costs and leaves: always in sight, with its alarms below."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.widgets.theme import escape
from cobalance.graph.counting.cliques import Cliques
from cobalance.workflows.cells import change_text
from cobalance.workflows.plan.words import describe_widened, plan_warnings

SUMMARY = "_plan_summary"
"""The summary's key: page.css of `cobalance.app.web.server` keeps it in sight by it."""


def place() -> DeltaGenerator:
    """The place of the summary, to be filled when all of it is known."""
    return st.container(key=SUMMARY, gap="xsmall")


def draw_cost(measured: Mapping[str, int], length: str) -> None:
    """Draw what the plan takes and what remains.

    Parameters
    ----------
    measured : mapping
        From `cobalance.generation.planning.effects.measure`.
    length : str
        How long one worker takes.
    """
    st.metric("Images to make", f"{measured['images']:,}")
    st.metric(
        "Sum of their gaps",
        change_text(measured["gap_before"], measured["gap_after"]),
        help="Of the chosen cliques, before and after.",
    )
    st.metric("Time with one worker", length, help="An estimate, see below.")


def draw_effects(measured: Mapping[str, int], touched: int) -> None:
    """Draw what the plan does to cliques."""
    with st.container(horizontal=True, key="_plan_metrics"):
        st.metric("Queries", f"{measured['queries']:,}")
        st.metric("Cliques solved", f"{measured['solved']:,} of {measured['imbalanced']:,}")
        st.metric(
            "Cliques that change", f"{touched:,}", help="Chosen or not: parts of larger ones, too."
        )
        st.metric(
            "Gaps that widen",
            f"{measured['widened']:,}",
            help="Cliques, chosen or not, with a larger gap afterwards.",
        )


def warn(before: Cliques, after: Cliques, images: int, min_size: int) -> None:
    """Say what the plan makes worse, as an alarm, and what it costs."""
    if widened := describe_widened(before, after):
        st.warning(escape(widened), icon=":material/warning:")
    for warning in plan_warnings(before, after, images, min_size):
        st.caption(f":orange[:material/warning:] {warning}")
