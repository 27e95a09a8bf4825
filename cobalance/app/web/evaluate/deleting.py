"""Dialog that deletes evaluations."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit, require_editor
from cobalance.app.web.widgets.messages import show_error
from cobalance.graph.errors import CobalanceError
from cobalance.graph.evaluations.reading import Evaluation
from cobalance.graph.wording import inflect
from cobalance.workflows.evaluate.results import name_rows
from cobalance.workflows.evaluate.stored import delete_evaluations

_OPEN = "_evaluate_deleting"


def show(found: Sequence[Evaluation]) -> None:
    """Draw the button, and the dialog while it is open; running evaluations are left out."""
    if not may_edit():
        return
    st.button(
        "Delete",
        icon=":material/delete:",
        key="_evaluate_delete",
        on_click=st.session_state.update,
        args=({_OPEN: True},),
        help="Choose evaluations to delete, with their files.",
    )
    if st.session_state.get(_OPEN):
        _dialog([one for one in found if one.state != "running"])


def _close() -> None:
    st.session_state.pop(_OPEN, None)


@st.dialog("Delete evaluations", on_dismiss=_close)
def _dialog(found: Sequence[Evaluation]) -> None:
    rows = name_rows(found)
    names = {one.id: _name(one, rows[one.id]) for one in found}
    outdated = [one.id for one in found if one.outdated or one.state in ("failed", "cancelled")]
    chosen = st.multiselect(
        "Evaluations",
        list(names),
        default=outdated,
        format_func=lambda one: names.get(one, one),
        key="_evaluate_to_delete",
        placeholder="none is chosen",
    )
    st.caption(
        "Deletes their scores, predictions, activation maps and checkpoints. Outdated, failed and "
        "cancelled ones are chosen at first; running ones must be cancelled before."
    )
    label = f"Delete {inflect(len(chosen), 'evaluations')}"
    if st.button(label, type="primary", key="_evaluate_delete_now", disabled=not chosen):
        try:
            require_editor()
            settings = session.settings()
            folder = settings.folders().open_output()
            delete_evaluations(session.store(), settings.folders(), folder, chosen)
        except CobalanceError as error:
            show_error(error)
        else:
            _close()
            st.rerun()


def _name(one: Evaluation, row: str) -> str:
    seed = "" if one.seed is None else f", seed {one.seed}"
    state = "outdated" if one.outdated and one.state == "done" else one.state
    return f"{row}{seed} · {state} · {one.id[:6]}"
