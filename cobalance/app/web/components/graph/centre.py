"""The centre of the Neighbourhood page, which other pages choose, too."""

import streamlit as st

from cobalance.graph.queries.neighbourhood import Kind

KIND, CONCEPT, CLASS = "near_kind", "near_concept", "near_class"  # keys of its choices
EXPANDED = "near_expanded"


def make_centre(name: str, kind: Kind = "concept") -> None:
    """Make a concept or class the centre."""
    st.session_state[KIND] = kind.capitalize()
    st.session_state[CONCEPT if kind == "concept" else CLASS] = name
    collapse_all()


def collapse_all() -> None:
    """Show the neighbours of the centre alone."""
    st.session_state[EXPANDED] = []
