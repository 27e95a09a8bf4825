"""Page Evaluate: order training runs, compare their scores, and score other models' tables."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.components.workers import draw_workers, task_buttons
from cobalance.app.web.evaluate import order, results, uploaded
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit, require_editor
from cobalance.app.web.state.refreshing import rerun_page
from cobalance.app.web.widgets.controls import choose_view
from cobalance.app.web.widgets.messages import errors_in_fragment, show_error, show_kept_error
from cobalance.app.web.widgets.tables import draw_columns, percent_column
from cobalance.base.errors import CobalanceError
from cobalance.base.plurals import inflect
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations, name_settings
from cobalance.workflows.evaluate.results import name_rows
from cobalance.workflows.evaluate.stored import delete_evaluations

RESULTS, TRAIN, SCORE = "Results", "Train models", "Score a table"
REFRESH_S = 2
_ACTIVE = ("queued", "running")
_OPEN = "_evaluate_deleting"


def page() -> None:
    """Draw the page."""
    current = session.current()
    found = list_evaluations(current.store, current.name)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        view = choose_view("Part of the page", (RESULTS, TRAIN, SCORE), "evaluate_view")
        if found:
            _show_delete(found)
    _show_running(current.name, found)
    if view == TRAIN:
        order.show(current)
    elif view == SCORE:
        uploaded.show(current)
    else:
        results.show(current, found)


def _show_running(dataset: str, found: Sequence[Evaluation]) -> None:
    """Draw the evaluations that are not done; nothing where all are."""
    if any(one.state != "done" for one in found):
        if any(one.state in _ACTIVE for one in found):
            draw_workers()
        every = REFRESH_S if any(one.state in _ACTIVE for one in found) else None
        st.fragment(run_every=every)(_draw_running)(dataset, _done(found))


def _done(found: Sequence[Evaluation]) -> frozenset[str]:
    return frozenset(one.id for one in found if one.state == "done")


def _draw_running(dataset: str, drawn: frozenset[str]) -> None:
    with errors_in_fragment():
        found = list_evaluations(session.store(), dataset)
        if _done(found) != drawn:  # there is a result to draw
            rerun_page()
            return
        show_kept_error()
        left = [one for one in found if one.state != "done"]
        with st.container(border=True, key="_evaluations_left"):
            _table(left)
            if may_edit():
                active = [one.id for one in left if one.state in _ACTIVE]
                ended = [one.id for one in left if one.state not in _ACTIVE]
                task_buttons("evaluations", active, ended)


def _table(left: Sequence[Evaluation]) -> None:
    text = st.column_config.TextColumn
    settings = name_settings(left)
    draw_columns(
        {
            "method": ([one.method for one in left], text("Method", width=120)),
            "train": ([one.train or "-" for one in left], text("Trained on", width=160)),
            "set": ([one.training_set or "-" for one in left], text("Images", width=90)),
            "settings": ([settings[one.id] for one in left], text("Settings", width=110)),
            "seed": (
                [one.seed for one in left],
                st.column_config.NumberColumn("Seed", width=50),
            ),
            "state": ([one.state for one in left], text("State", width=80)),
            "stage": (
                [one.stage or "" if one.state == "running" else "" for one in left],
                text("Stage", width=130),
            ),
            "progress": (
                [100 * (one.done or 0) / one.total if one.total else 0 for one in left],
                percent_column(110),
            ),
            "error": ([one.error for one in left], text("Message", width=320)),
        },
        220,
        key="_evaluations_table",
        alt="Evaluations that are not done",
    )


def _show_delete(found: Sequence[Evaluation]) -> None:
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
