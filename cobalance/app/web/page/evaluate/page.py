"""Page Evaluate: order training runs, compare their scores, and score other models' tables."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from cobalance.app.web.components import draw_workers, task_buttons, with_seed
from cobalance.app.web.page.evaluate import order, results, uploaded
from cobalance.app.web.state import may_edit, refreshing_while, require_editor, rerun_page, session
from cobalance.app.web.widgets import (
    Page,
    choose_view,
    draw_table,
    errors_in_fragment,
    percent_column,
    percent_done,
    show_error,
    show_kept_error,
    text_column,
)
from cobalance.base import CobalanceError, inflect
from cobalance.graph import Evaluation, list_evaluations, name_settings
from cobalance.workflows import delete_evaluations, name_rows

RESULTS, TRAIN, SCORE = "Results", "Train models", "Score a table"
REFRESH_S = 2
_ACTIVE = ("queued", "running")
_OPEN = "_evaluate_deleting"


def page() -> None:
    """Draw the page."""
    current = session.current()
    evaluations = list_evaluations(current.store, current.name)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        view = choose_view("Part of the page", (RESULTS, TRAIN, SCORE), "evaluate_view")
        if evaluations:
            _show_delete(evaluations)
    _show_running(current.name, evaluations)

    if view == TRAIN:
        order.show(current)
    elif view == SCORE:
        uploaded.show(current)
    else:
        results.show(current, evaluations)


PAGE = Page(
    "Evaluate",
    "evaluate",
    ":material/analytics:",
    page,
    words=("evaluation", "training method", "learner", "shortcut", "counterfactual"),
    takes_uploads=True,
)


def _show_running(dataset: str, evaluations: Sequence[Evaluation]) -> None:
    """Draw the evaluations that are not done; nothing where all are."""
    states = {evaluation.state for evaluation in evaluations}
    if states <= {"done"}:
        return
    is_active = not states.isdisjoint(_ACTIVE)
    if is_active:
        draw_workers()
    refreshing_while(is_active, REFRESH_S)(_draw_running)(dataset, _done(evaluations))


def _done(evaluations: Sequence[Evaluation]) -> frozenset[str]:
    return frozenset(evaluation.id for evaluation in evaluations if evaluation.state == "done")


def _draw_running(dataset: str, drawn: frozenset[str]) -> None:
    """Draw the evaluations that are not done; the whole page anew once another one is."""
    with errors_in_fragment():
        evaluations = list_evaluations(session.store(), dataset)
        if _done(evaluations) != drawn:
            rerun_page()
            return
        show_kept_error()

        undone = [evaluation for evaluation in evaluations if evaluation.state != "done"]
        with st.container(border=True, key="_evaluations_left"):
            _table(undone)
            if may_edit():
                active = [evaluation.id for evaluation in undone if evaluation.state in _ACTIVE]
                ended = [evaluation.id for evaluation in undone if evaluation.id not in active]
                task_buttons("evaluations", active, ended)


def _table(evaluations: Sequence[Evaluation]) -> None:
    """Draw a row for each evaluation."""
    columns = {
        "method": text_column("Method", width=120),
        "train": text_column("Trained on", width=160),
        "set": text_column("Images", width=90),
        "settings": text_column("Settings", width=110),
        "seed": st.column_config.NumberColumn("Seed", width=50),
        "state": text_column("State", width=80),
        "stage": text_column("Stage", width=130),
        "progress": percent_column(110),
        "error": text_column("Message", width=320),
    }
    settings = name_settings(evaluations)
    rows = [_cells(evaluation, settings[evaluation.id]) for evaluation in evaluations]
    draw_table(
        pd.DataFrame(rows, columns=list(columns)),
        220,
        columns,
        key="_evaluations_table",
        alt="Evaluations that are not done",
    )


def _cells(evaluation: Evaluation, settings: str) -> dict[str, object]:
    """An evaluation's row of the table."""
    stage = evaluation.stage if evaluation.state == "running" else None
    return {
        "method": evaluation.method,
        "train": evaluation.train or "-",
        "set": evaluation.training_set or "-",
        "settings": settings,
        "seed": evaluation.seed,
        "state": evaluation.state,
        "stage": stage or "",
        "progress": percent_done(evaluation.done, evaluation.total),
        "error": evaluation.error,
    }


def _show_delete(evaluations: Sequence[Evaluation]) -> None:
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
        _dialog([evaluation for evaluation in evaluations if evaluation.state != "running"])


def _close() -> None:
    st.session_state.pop(_OPEN, None)


@st.dialog("Delete evaluations", on_dismiss=_close)
def _dialog(evaluations: Sequence[Evaluation]) -> None:
    """Draw the choice of evaluations, and delete them when the button is pressed."""
    rows = name_rows(evaluations)
    names = {evaluation.id: _name(evaluation, rows[evaluation.id]) for evaluation in evaluations}
    useless = [
        evaluation.id
        for evaluation in evaluations
        if evaluation.outdated or evaluation.state in ("failed", "cancelled")
    ]
    chosen = st.multiselect(
        "Evaluations",
        list(names),
        default=useless,
        format_func=lambda name: names.get(name, name),
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
            # The person may have lost the right since the dialog was drawn.
            require_editor()
            folders = session.settings().folders()
            delete_evaluations(session.store(), folders, folders.open_output(), chosen)
        except CobalanceError as error:
            show_error(error)
        else:
            _close()
            st.rerun()


def _name(evaluation: Evaluation, row: str) -> str:
    state: str = evaluation.state
    if evaluation.outdated and state == "done":
        state = "outdated"
    return f"{with_seed(row, evaluation)} · {state} · {evaluation.id[:6]}"
