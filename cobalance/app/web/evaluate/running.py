"""Evaluations that are queued, running or failed, live."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.components.workers import draw_workers, task_buttons
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.refreshing import refreshing, rerun_page
from cobalance.app.web.widgets.messages import errors_in_fragment, show_kept_error
from cobalance.app.web.widgets.tables import draw_columns
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations, name_settings

REFRESH_S = 2
_PROBLEM = "_evaluation_problem"
_ACTIVE = ("queued", "running")


def show(dataset: str, found: Sequence[Evaluation]) -> None:
    """Draw the evaluations that are not done; nothing where all are."""
    if any(one.state != "done" for one in found):
        if any(one.state in _ACTIVE for one in found):
            draw_workers()
        every = REFRESH_S if any(one.state in _ACTIVE for one in found) else None
        refreshing(every)(_draw)(dataset, _done(found))


def _done(found: Sequence[Evaluation]) -> frozenset[str]:
    return frozenset(one.id for one in found if one.state == "done")


def _draw(dataset: str, drawn: frozenset[str]) -> None:
    with errors_in_fragment():
        found = list_evaluations(session.store(), dataset)
        if _done(found) != drawn:  # there is a result to draw
            rerun_page()
            return
        show_kept_error(_PROBLEM)
        left = [one for one in found if one.state != "done"]
        with st.container(border=True, key="_evaluations_left"):
            _table(left)
            if may_edit():
                _buttons(left)


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
            "stage": ([_stage(one) for one in left], text("Stage", width=130)),
            "progress": (
                [100 * (one.done or 0) / one.total if one.total else 0 for one in left],
                st.column_config.ProgressColumn(
                    "Progress", min_value=0, max_value=100, format="%d%%", width=110
                ),
            ),
            "error": ([one.error for one in left], text("Message", width=320)),
        },
        220,
        key="_evaluations_table",
        alt="Evaluations that are not done",
    )


def _stage(one: Evaluation) -> str:
    return (one.stage or "") if one.state == "running" else ""


def _buttons(left: Sequence[Evaluation]) -> None:
    active = [one.id for one in left if one.state in _ACTIVE]
    ended = [one.id for one in left if one.state not in _ACTIVE]
    task_buttons("evaluations", active, ended, _PROBLEM)
