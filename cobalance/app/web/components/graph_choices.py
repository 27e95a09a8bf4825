"""Shared choices around the concept graph: the two sides of its axis, and the centre."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.state import CurrentDataset
from cobalance.app.web.widgets import choose_named, escape, shorten
from cobalance.base import agree, inflect
from cobalance.graph import Contrasts, Kind, read_contrasts
from cobalance.workflows import ALL_OTHERS, Axis

_LEFT, _RIGHT = "left", "right"  # the query parameters
_SIDES = "_sides"  # the default sides of the last run


def prefer_sides(sides: Sequence[str]) -> None:
    """Have the graph between two classes, until others are chosen or preferred."""
    if len(sides) == 2 and st.session_state.get(_SIDES, sides) != sides:
        st.session_state[_LEFT], st.session_state[_RIGHT] = sides
    st.session_state[_SIDES] = sides


def choose_axis(current: CurrentDataset) -> Axis:
    """Draw the choice of the two sides, if there are more than two classes.

    At first they are the preferred ones, or the two classes that differ most.
    """
    classes = list(current.class_sizes)
    if len(classes) <= 2:
        return Axis.between(classes, classes[0], classes[-1])

    contrasts = current.read(read_contrasts)
    first, second = default_sides(contrasts, classes)
    preferred = st.session_state.get(_SIDES, ())
    if len(preferred) == 2 and {*preferred} <= {*classes}:
        first, second = preferred
    with st.container(horizontal=True, width="content", gap="xsmall"):
        left = choose_named("Left", classes, _LEFT, first, width=125)

        # The default pair belongs together: another left side is compared with all others.
        usual = second if left == first else ALL_OTHERS
        others = [ALL_OTHERS, *(name for name in classes if name != left)]
        purpose = describe_contrast(contrasts)
        right = choose_named("Right", others, _RIGHT, usual, width=145, help=purpose)
    return Axis.between(classes, left, right)


def default_sides(contrasts: Contrasts, classes: list[str]) -> tuple[str, str]:
    """The two classes that differ most, if both can be chosen; else the first, and all others."""
    pair, strongest = contrasts.pair, contrasts.strongest
    if pair and strongest is not None and strongest.strength and {*pair} <= {*classes}:
        return pair
    return classes[0], ALL_OTHERS


def describe_contrast(contrasts: Contrasts) -> str:
    """Say which two classes differ most, and how many pairs differ as much.

    Examples
    --------
    >>> import numpy as np
    >>> from cobalance.statistics.contrasts import Contrast
    >>> of_three = {"bus": 9, "cat": 9, "dog": 9}
    >>> none = np.zeros((0, 3))
    >>> print(describe_contrast(Contrasts(of_three, (), none, none, Contrast(0, 2, 0.5, 1))))
    bus and dog differ most in their concepts' rates, beyond the margin of error; 1 more pair \
differs as much.
    >>> print(describe_contrast(Contrasts(of_three, (), none, none, Contrast(0, 1, 0.0, 2))))
    No two classes differ in their concepts' rates beyond the margin of error.
    """
    strongest = contrasts.strongest
    if strongest is None or contrasts.pair is None or not strongest.strength:
        return "No two classes differ in their concepts' rates beyond the margin of error."

    first, second = (escape(shorten(name)) for name in contrasts.pair)
    text = f"{first} and {second} differ most in their concepts' rates, beyond the margin of error"
    if ties := strongest.ties:
        verb = agree(ties, "differs", "differ")
        text += f"; {inflect(ties, 'more pairs')} {verb} as much"
    return f"{text}."


VIEW, AROUND = "view", "Around"  # the choice of a picture of Diagnose, and one of them
KIND, CONCEPT, CLASS = "near_kind", "near_concept", "near_class"  # keys of its choices
EXPANDED = "near_expanded"


def make_centre(name: str, kind: Kind = "concept") -> None:
    """Make a concept or class the centre of Diagnose's view *Around*."""
    st.session_state[VIEW] = AROUND
    st.session_state[KIND] = kind.capitalize()
    st.session_state[{"concept": CONCEPT, "class": CLASS}[kind]] = name
    collapse_all()


def collapse_all() -> None:
    """Show the neighbours of the centre alone."""
    st.session_state[EXPANDED] = []
