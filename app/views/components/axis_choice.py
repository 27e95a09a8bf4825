"""Choose the two sides between which the concept graph is laid out."""

from collections.abc import Mapping

import streamlit as st

from app.concept_graph.overview import ALL_OTHERS, Axis
from app.views.state.url import named_in_url


def choose_axis(class_sizes: Mapping[str, int]) -> Axis:
    """Draw the choice of the two sides; with two classes there is none."""
    classes = list(class_sizes)
    if len(classes) <= 2:
        return Axis.between(classes, classes[0], classes[-1])
    left = st.selectbox("Left", classes, **named_in_url("left", classes[0], classes), width=125)
    left = left or classes[0]
    others = [ALL_OTHERS, *(name for name in classes if name != left)]
    right = st.selectbox("Right", others, **named_in_url("right", ALL_OTHERS, others), width=135)
    right = right or ALL_OTHERS
    return Axis.between(classes, left, right)
