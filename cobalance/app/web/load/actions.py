"""Buttons and dialogs to mine, rename and drop a dataset."""

from collections.abc import Callable

import streamlit as st

from cobalance.app.web.components import mine_button
from cobalance.app.web.state import session, tasks
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.messages import show_error
from cobalance.graph.errors import CobalanceError
from cobalance.graph.names import clean_name
from cobalance.graph.progress import Progress
from cobalance.workflows.load.dataset import drop_dataset, rename_dataset

_DIALOG = "_ds_dialog"  # mine, rename or drop, while one is open
RENAMED = "_renamed"  # (old, new), until the new one has been chosen
TASKS = ("load", "mine", "rename", "drop")  # keys begin with these


def draw_actions(current: CurrentDataset, *, whole: bool) -> None:
    """Draw the buttons for mining, renaming and dropping; disabled while one of these runs."""
    running = [tasks.find(f"{kind} {current.name}") for kind in TASKS]
    busy = any(task is not None and task.is_running for task in running)
    first = whole and not current.is_mined
    with st.container(horizontal=True):
        for dialog, icon, key, primary, disabled in (
            ("mine", "balance", "_ds_mine", first, busy or not whole),
            ("rename", "edit", "_rename", False, busy),
            ("drop", "delete", "_drop", False, busy),
        ):
            st.button(
                dialog.capitalize(),
                icon=f":material/{icon}:",
                key=key,
                type="primary" if primary else "secondary",
                disabled=disabled,
                on_click=st.session_state.update,
                args=({_DIALOG: dialog},),
            )
    match st.session_state.get(_DIALOG):
        case "mine":
            _mine_dialog(current)
        case "rename":
            _rename_dialog(current.name, current.state.renaming_to or current.name)
        case "drop":
            _drop_dialog(current.name)


def _close_dialog() -> None:
    st.session_state.pop(_DIALOG, None)


@st.dialog("Mine the dataset", on_dismiss=_close_dialog)
def _mine_dialog(current: CurrentDataset) -> None:
    st.caption("Counts every combination of concepts in every class.")
    options = mine_button.fields(current, "_mine")
    if st.button("Mine", type="primary", key="_mine_now"):
        _in_dialog(lambda: mine_button.start(current.name, options))


@st.dialog("Rename the dataset", on_dismiss=_close_dialog)
def _rename_dialog(name: str, proposed: str) -> None:
    new = clean_name(st.text_input("New name", proposed, key="_new_name"))
    if st.button("Rename", type="primary", key="_rename_now", disabled=new in ("", name)):
        _in_dialog(lambda: _start_rename(name, new))


def _start_rename(name: str, new: str) -> None:
    store, settings = session.store(), session.settings()

    def work(progress: Progress) -> str:
        rename_dataset(store, settings.folders(), name, new, progress)
        return f"Renamed {name} to {new}."

    tasks.start(f"rename {name}", f"Renaming {name}", work)
    st.session_state[RENAMED] = (name, new)


@st.dialog("Drop the dataset", on_dismiss=_close_dialog)
def _drop_dialog(name: str) -> None:
    st.text(f"This deletes {name} with everything that belongs to it.")
    typed = st.text_input("Type its name to confirm", key="_drop_name")
    if st.button("Drop", type="primary", key="_drop_now", disabled=clean_name(typed) != name):
        _in_dialog(lambda: _start_drop(name))


def _start_drop(name: str) -> None:
    store, settings = session.store(), session.settings()

    def work(progress: Progress) -> str:
        drop_dataset(store, settings.folders(), name, progress)
        return f"Dropped {name}."

    tasks.start(f"drop {name}", f"Dropping {name}", work)


def _in_dialog(begin: Callable[[], None]) -> None:
    """Start something and close the dialog, or show its error there."""
    try:
        begin()
    except CobalanceError as error:
        show_error(error)
    else:
        _close_dialog()
        st.rerun()
