"""Review of proposed attributes: one after the other, by mouse or keyboard."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.annotate import pictures
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit, user_name
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.controls import choose_one
from cobalance.app.web.widgets.messages import edits, empty_state, show_kept_error, viewer_note
from cobalance.app.web.widgets.tables import draw_columns
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.base.errors import OptionError
from cobalance.graph.annotations.attributes import (
    AttributeKey,
    AttributeState,
    Decision,
    decide_attributes,
    list_attributes,
)

ATTRIBUTE, INTO = "annotate_attribute", "annotate_into"
_NEXT = "the next one without a decision"


def show(current: CurrentDataset) -> None:
    """Draw the attributes by category, and the one to decide on."""
    found = list_attributes(current.store, current.name)
    if found.empty:
        empty_state("No attribute yet", "Have some proposed: see **Propose**.")
        return
    show_kept_error()
    waiting = found[found["state"] == "proposed"]
    unflagged = waiting[waiting["flags"].map(len) == 0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{len(found) - len(waiting):,} of {len(found):,} attributes are decided.")
        if may_edit() and len(unflagged):
            st.button(
                f"Accept all unflagged ({len(unflagged):,})",
                key="_accept_unflagged",
                on_click=_decide,
                args=(current.name, [Decision(key, "accepted") for key in _keys(unflagged)]),
            )
    viewer_note("decide which attributes are looked for")
    _one(current, found, waiting)
    _table(found)


def _keys(found: pd.DataFrame) -> list[AttributeKey]:
    return list(zip(found["category"], found["proposed"], strict=True))


def _one(current: CurrentDataset, found: pd.DataFrame, waiting: pd.DataFrame) -> None:
    """Draw an attribute: the chosen one, or the next without a decision."""
    labels = {" / ".join(key): key for key in _keys(found)}
    chosen = choose_one(
        "Attribute", list(labels), ATTRIBUTE, _NEXT, width=420, on_change=_forget_target
    )
    if chosen is None and waiting.empty:
        st.success("All attributes are decided. Have images labelled: see **Label**.")
        return
    key = labels[chosen] if chosen is not None else _keys(waiting)[0]
    at = _keys(found).index(key)
    row = {str(name): value for name, value in found.iloc[at].items()}
    with st.container(border=True):
        st.markdown(
            f"**{escape(shorten(row['name'], 120))}** · {escape(shorten(row['category'], 60))} · "
            f"{row['state']}" + (f" by {escape(row['decided_by'])}" if row["decided_by"] else "")
        )
        st.caption(
            f"“{escape(shorten(row['caption'], 200))}” · {row['level']} · "
            f"{row['votes']} of {row['rounds']} rounds"
        )
        for flag in row["flags"]:
            st.caption(f":orange[:material/flag:] {escape(shorten(flag, 200))}")
        if may_edit():
            _fields(current, found, key, row)
        pictures.show(current, row)


def _fields(
    current: CurrentDataset, found: pd.DataFrame, key: AttributeKey, row: Mapping[str, Any]
) -> None:
    widget = f"{len(key[0])} {key[0]} {key[1]}"
    others = [one for one in _keys(found[found["state"] == "accepted"]) if one != key]
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
        into = choose_one(
            "Merge into", others, INTO, "an accepted one", format_func=" / ".join, width=220
        )
    changes = {
        what: value for what, value in (("name", name), ("level", level)) if value != row[what]
    }
    state: AttributeState
    with st.container(horizontal=True):
        for label, state, shortcut in (
            ("Accept", "accepted", "y"),
            ("Reject", "rejected", "n"),
            ("Merge", "merged", "m"),
            ("Undecided", "proposed", "u"),
        ):
            merges = state == "merged"
            decision = Decision(
                key, state, into if merges else None, changes if state == "accepted" else {}
            )
            st.button(
                label,
                key=f"_{state} {widget}",
                shortcut=shortcut,
                type="primary" if state == "accepted" else "secondary",
                disabled=(merges and into is None) or state == row["state"] == "proposed",
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


def _table(found: pd.DataFrame) -> None:
    text = st.column_config.TextColumn
    found = found.sort_values("category", kind="stable")
    rounds = zip(found["votes"], found["rounds"], strict=True)
    draw_columns(
        {
            "category": (found["category"], text("Category", width=140)),
            "name": (found["name"], text("Attribute", width=200)),
            "level": (found["level"], text("Level", width=70)),
            "votes": ([f"{a} of {b}" for a, b in rounds], text("Rounds", width=80)),
            "flags": (found["flags"].map(", ".join), text("Flags", width=240)),
            "state": (found["state"], text("State", width=90)),
            "decided_by": (found["decided_by"].fillna(""), text("Decided by", width=130)),
        },
        480,
        key="_annotate_attributes",
        alt="Attributes by category",
    )
