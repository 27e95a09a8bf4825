"""Form that orders a labelling run."""

from typing import Any

import streamlit as st

from cobalance.annotation import ANNOTATORS
from cobalance.app.web.components import draw_model_options, draw_purpose, say_needs
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    in_url,
    may_edit,
    number_in_url,
    session,
    user_name,
)
from cobalance.app.web.widgets import choose_split, edits, show_kept_error, viewer_note
from cobalance.base import clean_name
from cobalance.graph import split_sizes
from cobalance.workflows import LabelOrder, order_labels

BASE, THRESHOLD = "above the base caption", "from a threshold"
_ORDERED = "_labels_ordered"


def show(current: CurrentDataset) -> None:
    """Draw the form, and the order made with it."""
    order, concepts = _fields(current)
    show_kept_error()

    if st.session_state.pop(_ORDERED, None) is not None:
        st.success(
            "The run is ordered. Workers label the images: `cobalance work`. See **Runs**.",
            icon=":material/check:",
        )
    say_needs(ANNOTATORS[order["annotator"]].extra)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Order the run",
            type="primary",
            key="_label",
            disabled=not may_edit(),
            on_click=_order,
            args=(order, concepts),
        )
        st.caption("Workers score all images. Nothing counts before the run is accepted.")
    viewer_note("order runs")


def _fields(current: CurrentDataset) -> tuple[dict[str, Any], str]:
    """Draw the fields; return the order's values, and the lines of concepts."""
    with st.container(border=True):
        target_column, rule_column = st.columns(2)
        with target_column:
            annotator, level, concepts = _choose_target()
        with rule_column:
            rule = _choose_rule(level)
            splits = [name for name in current.read(split_sizes) if name is not None]
            split = choose_split("Only images of this split", splits, "annotate_split")

        with st.expander("Options of the annotator"):
            options = draw_model_options(
                ANNOTATORS[annotator].options, f"{annotator}_", "`cobalance annotate label`"
            )

    order = {
        "dataset": current.name,
        "annotator": annotator,
        "options": options,
        "level": level,
        "split": split,
    }
    return order | rule, concepts


def _choose_target() -> tuple[str, str, str]:
    """Draw the choice of an annotator, a level and concepts; return all three."""
    annotator = st.selectbox(
        "Annotator", list(dict(ANNOTATORS.items())), **choice_in_url("annotate_with")
    )
    draw_purpose(ANNOTATORS[annotator])

    level = st.segmented_control(
        "Level",
        ("image", "object"),
        default="image",
        **choice_in_url("annotate_level"),
        help="Attributes told from the whole image, or objects in it.",
    )
    concepts = st.text_area(
        "Concepts instead of attributes",
        **in_url("annotate_concepts"),
        placeholder="one a line; else the accepted attributes of this level",
        max_chars=20_000,
    )
    return annotator, level, concepts


def _choose_rule(level: str) -> dict[str, Any]:
    """Draw the rule by which an image shows an attribute; return the order's values of it."""
    rule = st.segmented_control(
        "Present",
        (BASE, THRESHOLD),
        default=None,
        **in_url("annotate_rule"),
        help="When an image shows an attribute. By default above the base caption for "
        "whole images, and from a threshold for objects.",
    )
    name = {BASE: "base", THRESHOLD: "threshold"}.get(rule or "")

    if rule == THRESHOLD or (rule is None and level == "object"):
        threshold = st.number_input(
            "Threshold", -1e6, 1e6, 0.3, 0.05, **number_in_url("annotate_threshold")
        )
        return {"rule": name, "base": "", "multi": False, "threshold": float(threshold)}

    base = st.text_input(
        "Base caption",
        **in_url("annotate_base"),
        placeholder="a photo of a bird",
        max_chars=300,
        help="Names the domain alone; attributes that fit better are present.",
    )
    multi = st.checkbox("Several attributes of a category in one image", **in_url("annotate_multi"))
    return {"rule": name, "base": base.strip(), "multi": multi, "threshold": 0.3}


@edits
def _order(order: dict[str, Any], concepts: str) -> None:
    """Order the run in the button's callback, so that the page is drawn with it."""
    names = tuple(clean_name(line) for line in concepts.splitlines() if line.strip())
    st.session_state[_ORDERED] = order_labels(
        session.store(),
        session.settings().folders().open_output(),
        LabelOrder(**order, concepts=names),
        created_by=user_name(),
    )
