"""Review of proposed attributes: one after the other, by mouse or keyboard."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.page.annotate import pictures
from cobalance.app.web.state import CurrentDataset, may_edit, session, user_name
from cobalance.app.web.widgets import (
    button_type,
    choose_one,
    draw_columns,
    edits,
    empty_state,
    escape,
    row_values,
    shorten,
    show_kept_error,
    text_column,
    unless_empty,
    viewer_note,
)
from cobalance.base import OptionError
from cobalance.graph import AttributeKey, Decision, decide_attributes, list_attributes

ATTRIBUTE, INTO = "annotate_attribute", "annotate_into"
_NEXT = "the next one without a decision"


def show(current: CurrentDataset) -> None:
    """Draw the attributes by category, and the one to decide on."""
    attributes = list_attributes(current.store, current.name)
    if attributes.empty:
        empty_state("No attribute yet", "Have some proposed: see **Propose**.")
        return
    show_kept_error()

    undecided = attributes[attributes["state"] == "proposed"]
    unflagged = undecided[undecided["flags"].map(len) == 0]
    n_decided = len(attributes) - len(undecided)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{n_decided:,} of {len(attributes):,} attributes are decided.")
        if may_edit() and len(unflagged):
            st.button(
                f"Accept all unflagged ({len(unflagged):,})",
                key="_accept_unflagged",
                on_click=_decide,
                args=(current.name, [Decision(key, "accepted") for key in _keys(unflagged)]),
            )
    viewer_note("decide which attributes are looked for")

    _draw_attribute(current, attributes, undecided)
    _table(attributes)


def _keys(attributes: pd.DataFrame) -> list[AttributeKey]:
    return list(zip(attributes["category"], attributes["proposed"], strict=True))


def _draw_attribute(
    current: CurrentDataset, attributes: pd.DataFrame, undecided: pd.DataFrame
) -> None:
    """Draw an attribute: the chosen one, or the next without a decision."""
    keys = {" / ".join(key): key for key in _keys(attributes)}
    chosen = choose_one(
        "Attribute", list(keys), ATTRIBUTE, _NEXT, width=420, on_change=_forget_target
    )
    if chosen is None and undecided.empty:
        st.success("All attributes are decided. Have images labelled: see **Label**.")
        return

    key = _keys(undecided)[0] if chosen is None else keys[chosen]
    position = _keys(attributes).index(key)
    row = row_values(attributes, position)
    decided_by = unless_empty(" by {}", escape(row["decided_by"] or ""))

    with st.container(border=True):
        st.markdown(
            f"**{escape(shorten(row['name'], 120))}** · {escape(shorten(row['category'], 60))} · "
            f"{row['state']}{decided_by}"
        )
        st.caption(
            f"“{escape(shorten(row['caption'], 200))}” · {row['level']} · "
            f"{row['votes']} of {row['rounds']} rounds"
        )
        for flag in row["flags"]:
            st.caption(f":orange[:material/flag:] {escape(shorten(flag, 200))}")
        if may_edit():
            _fields(current, attributes, key, row)
        pictures.show(current, row)


def _fields(
    current: CurrentDataset, attributes: pd.DataFrame, key: AttributeKey, row: Mapping[str, Any]
) -> None:
    """Draw the fields of a decision on an attribute, and its buttons."""
    # With the category's length no two attributes have the same key.
    widget = f"{len(key[0])} {key[0]} {key[1]}"
    accepted = _keys(attributes[attributes["state"] == "accepted"])
    targets = [other for other in accepted if other != key]

    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name", row["name"], key=f"_name {widget}", max_chars=200, width=220
        ).strip()
        level = st.segmented_control(
            "Level",
            ("image", "object"),
            default=row["level"],
            required=True,
            key=f"_level {widget}",
        )
        target = choose_one(
            "Merge into", targets, INTO, "an accepted one", format_func=" / ".join, width=220
        )

    edited = {"name": name, "level": level}
    changes = {field: value for field, value in edited.items() if value != row[field]}
    is_proposed = row["state"] == "proposed"
    decisions = (
        ("Accept", "y", Decision(key, "accepted", None, changes), False),
        ("Reject", "n", Decision(key, "rejected"), False),
        ("Merge", "m", Decision(key, "merged", target), target is None),
        ("Undecided", "u", Decision(key, "proposed"), is_proposed),
    )
    with st.container(horizontal=True):
        for label, shortcut, decision, is_disabled in decisions:
            st.button(
                label,
                key=f"_{decision.state} {widget}",
                shortcut=shortcut,
                type=button_type(decision.state == "accepted"),
                disabled=is_disabled,
                on_click=_decide,
                args=(current.name, [decision]),
            )


@edits
def _decide(dataset: str, decisions: list[Decision]) -> None:
    """Write decisions in a button's callback, and go on to the next attribute."""
    if not decisions:
        raise OptionError("There is nothing to decide.")
    decide_attributes(session.store(), dataset, decisions, user_name())
    st.session_state[ATTRIBUTE] = None
    _forget_target()


def _forget_target() -> None:
    """Clear the merge target, which was chosen for another attribute."""
    if INTO in st.session_state:
        st.session_state[INTO] = None


def _table(attributes: pd.DataFrame) -> None:
    """Draw all attributes by category."""
    rows = attributes.sort_values("category", kind="stable")
    rounds = rows["votes"].astype(str) + " of " + rows["rounds"].astype(str)
    draw_columns(
        {
            "category": (rows["category"], text_column("Category", width=140)),
            "name": (rows["name"], text_column("Attribute", width=200)),
            "level": (rows["level"], text_column("Level", width=70)),
            "votes": (rounds, text_column("Rounds", width=80)),
            "flags": (rows["flags"].map(", ".join), text_column("Flags", width=240)),
            "state": (rows["state"], text_column("State", width=90)),
            "decided_by": (rows["decided_by"].fillna(""), text_column("Decided by", width=130)),
        },
        480,
        key="_annotate_attributes",
        alt="Attributes by category",
    )
