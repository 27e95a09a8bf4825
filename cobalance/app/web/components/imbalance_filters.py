"""Filters of an imbalance table, with the same widgets and URL parameters on every page."""

from collections.abc import Iterable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.state import CurrentDataset, choice_in_url, id_in_url, in_url, number_in_url
from cobalance.app.web.widgets import choose_one, meaning, shorten
from cobalance.graph import Ranking
from cobalance.statistics import EVIDENCE, GAP, OWN
from cobalance.workflows import Facet, read_facets

CONCEPTS = "concept"  # the key of the filter by concepts, which the graph's nodes set too
GROUP = "group"  # the parameter of the filter by a group of concepts
ORDERS = {
    EVIDENCE: "Evidence",
    OWN: "Stands on its own",
    GAP: "Count gap (ConBias)",
    "log_odds_ratio": "Strongest odds",
    "q_value": "Smallest q-value",
    "lift": "Largest lift",
}
Q_VALUES = {1.0: "any", 0.05: "0.05", 0.01: "0.01", 0.001: "0.001"}
ROWS = (200, 1000, 5000)


def ranking(
    current: CurrentDataset, concepts: list[str]
) -> tuple[Ranking, DeltaGenerator, DeltaGenerator | None]:
    """Draw the filters; return the ranking that they select, and two places.

    The first is for further filters, beside most of these behind a button. In the second
    `choose_facet` is still to draw the groups of concepts, which take longest to read, once the
    rest of the page is there; None if one of them is chosen.
    """
    sizes = list(range(1, current.mining.max_size + 1))
    st.caption("Size", help="Concepts in a combination.", width="content")
    size = st.segmented_control(
        "Size", sizes, **number_in_url("size"), label_visibility="collapsed"
    )
    order = st.selectbox(
        "Order",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        **choice_in_url("by"),
        width=150,
        label_visibility="collapsed",
    )
    more = st.popover(f"Filter ({_n_chosen()})", icon=":material/filter_list:", key="_filters")
    with more:
        chosen = choose_concepts(concepts, placeholder="any; or click in the graph")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            under = choose_class(current.class_sizes)
            max_q_value = choose_q_value()
            rows = st.selectbox("Rows", ROWS, width=90, **number_in_url("rows"))
        # Without a chosen group the ranking does not wait for the groups, which take longest.
        container = st.container()
        place: DeltaGenerator | None = container
        facet = None
        if st.session_state.get(f"_id_{GROUP}") is not None or GROUP in st.query_params:
            facet, place = choose_facet(current, container), None

    selected = Ranking(
        by=order,
        descending=order != "q_value",
        class_name=under,
        concepts=tuple(chosen),
        any_of=facet.concepts if facet is not None else (),
        min_size=size,
        max_size=size,
        max_q_value=max_q_value,
        limit=rows,
    )
    return selected, more, place


def _n_chosen() -> int:
    """Number of filters behind the button that leave out rows."""
    names = {"under": "under", "q": "q", CONCEPTS: CONCEPTS, GROUP: f"_id_{GROUP}"}
    values = [st.session_state.get(key, st.query_params.get(name)) for name, key in names.items()]
    # The largest q-value is any.
    return sum(value not in (None, "", [], 1.0, Q_VALUES[1.0]) for value in values)


def choose_facet(current: CurrentDataset, place: DeltaGenerator) -> Facet | None:
    """Draw the filter by a group of concepts, of which a clique has one or more; None for all."""
    facets = {facet.id: facet for facet in current.read(read_facets)}
    if not facets:
        return None
    chosen = place.selectbox(
        "Group of concepts",
        list(facets),
        index=None,
        format_func=lambda name: _facet_text(facets[name]),
        **id_in_url(GROUP, facets),
        placeholder="any group",
        help="Categories of attributes that were labelled, and concepts that occur together "
        "(communities of the graph), by their most frequent concepts; with how many of them lean "
        "to a class by themselves.",
    )
    return facets.get(chosen or "")


def _facet_text(facet: Facet) -> str:
    """Its name, and its count.

    Examples
    --------
    >>> _facet_text(Facet("together:cow, sheep", "cow, sheep", ("barn", "cow", "sheep"), 2))
    'cow, sheep · 2 of 3 lean'
    """
    return f"{shorten(facet.name, 60)} · {facet.leaning:,} of {len(facet.concepts):,} lean"


def choose_class(classes: Iterable[str]) -> str | None:
    """Draw the filter by the class that a clique has too few images of."""
    purpose = "By the count gap: the class with the fewest images."
    return choose_one(
        "Too few images of", list(classes), "under", "any class", width=150, help=purpose
    )


def choose_q_value() -> float | None:
    """Draw the filter by q-value; None for no limit."""
    chosen = st.selectbox(
        "q-value at most",
        list(Q_VALUES),
        format_func=Q_VALUES.__getitem__,
        **number_in_url("q"),
        width=130,
        help=meaning("q-value"),
    )
    return None if chosen == 1.0 else chosen


def choose_concepts(concepts: Sequence[str], *, placeholder: str) -> list[str]:
    """Draw the filter by concepts that a clique must contain."""
    return st.multiselect(
        "With the concepts", concepts, **in_url(CONCEPTS), placeholder=placeholder, width="stretch"
    )
