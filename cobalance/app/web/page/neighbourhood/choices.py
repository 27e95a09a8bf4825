"""Choices of the view Around: centre, expanded concepts, limit, end of a link."""

from dataclasses import dataclass
from typing import NoReturn

import streamlit as st

from cobalance.app.web.components import CLASS, CONCEPT, EXPANDED, KIND, choose_axis, collapse_all
from cobalance.app.web.server.streamlit_internals import correct_parameter
from cobalance.app.web.state import CurrentDataset, choice_in_url, in_url, number_in_url, read_names
from cobalance.app.web.widgets import choose_named, choose_one
from cobalance.graph import Kind
from cobalance.graph.database import schema
from cobalance.workflows import Axis

MOST_NEIGHBOURS = 60  # of one node
NEIGHBOURS = 15
_MOST, _TO = "near_most", "near_to"
_TOGGLED = "_near_toggled"
_KINDS: dict[str, Kind] = {"Concept": "concept", "Class": "class"}


@dataclass(frozen=True)
class Choices:
    """The choices of the page: centre, expanded nodes, limit, and the end of a link."""

    kind: Kind
    centre: str
    expanded: tuple[str, ...]
    most: int
    to: str | None


def choose(current: CurrentDataset, concepts: list[str]) -> tuple[Choices, Axis]:
    """Draw the choices, which are in the URL."""
    frequent = current.read(read_names, schema.CONCEPT.label)["concept"].iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="_near_choices"):
        chosen = st.segmented_control(
            "Around a",
            list(_KINDS),
            default="Concept",
            **choice_in_url(KIND),
            on_change=collapse_all,
        )
        # A URL may have none of the choices.
        chosen = chosen or "Concept"
        kind = _KINDS[chosen]
        names, first, key = concepts, str(frequent), CONCEPT
        if kind == "class":
            names, first, key = list(current.class_sizes), next(iter(current.class_sizes)), CLASS
            # The run before may have sent the URL without it.
            correct_parameter(KIND, chosen)

        centre = choose_named(chosen, names, key, first, on_change=collapse_all, width=200)
        most = st.number_input(
            "Neighbours",
            1,
            MOST_NEIGHBOURS,
            NEIGHBOURS,
            **number_in_url(_MOST),
            width=120,
            help="The maximum for each expanded node: those with most images.",
        )
        axis = choose_axis(current)

        others, target = concepts, None
        if kind == "concept":
            others = [name for name in concepts if name != centre]
            target = choose_one("Shortest link to", others, _TO, "another concept", width=200)
        expanded = st.multiselect(
            "Expanded",
            others,
            **in_url(EXPANDED),
            width="stretch",
            select_all=False,
            placeholder="none; double-click a concept",
            help="Concepts whose neighbours are shown, too. Double-click one to expand it, and "
            "again to collapse it.",
        )
    choices = Choices(kind=kind, centre=centre, expanded=tuple(expanded), most=most, to=target)
    return choices, axis


def toggle(name: str) -> None:
    """Expand a concept, or collapse it if it is expanded."""
    expanded = st.session_state.get(EXPANDED) or []
    others = [concept for concept in expanded if concept != name]
    st.session_state[EXPANDED] = others if name in expanded else [*expanded, name]


def toggle_later(name: str) -> NoReturn:
    """Rerun the page, and expand or collapse a concept before its widget is drawn."""
    st.session_state[_TOGGLED] = name
    st.rerun()


def apply_toggle() -> None:
    """Apply the double click of the previous run, before its widget is drawn."""
    name = st.session_state.pop(_TOGGLED, None)
    if name is not None:
        toggle(name)
