"""Tasks of a dataset, live: other long work on the queue, such as evaluations."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from cobalance.app.web.components.workers import task_buttons
from cobalance.app.web.jobs.progress import left_text, percent_column
from cobalance.app.web.state import session, url
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.refreshing import refreshing, rerun_page
from cobalance.app.web.widgets.messages import errors_in_fragment, show_kept_error
from cobalance.app.web.widgets.tables import draw_table
from cobalance.graph.evaluations.writing import KIND
from cobalance.graph.tasks.status import Task, list_tasks

REFRESH_S = 2
MOST_TASKS = 100
_PROBLEM, _TABLE = "_task_problem", "_tasks_table"


def show(dataset: str) -> None:
    """Draw the tasks, if any, with buttons to cancel and retry them."""
    found = list_tasks(session.store(), dataset, limit=MOST_TASKS)
    if found:
        refreshing(REFRESH_S if any(one.is_active for one in found) else None)(_draw)(dataset)
        if any(one.kind == KIND for one in found) and st.button(
            "See the evaluations", key="_tasks_to_evaluate", icon=":material/analytics:"
        ):
            url.go_to("evaluate")


def _draw(dataset: str) -> None:
    with errors_in_fragment():
        found = list_tasks(session.store(), dataset, limit=MOST_TASKS)
        if not found:
            rerun_page()  # they went with their dataset, or were deleted
            return
        show_kept_error(_PROBLEM)
        with st.container(border=True, key="_tasks"):
            active = sum(one.is_active for one in found)
            st.markdown(f"**Tasks**: {len(found):,}, {active:,} of them queued or running")
            chosen = _table(found)
            for one in chosen if len(chosen) < len(found) else ():
                for remark in one.remarks:
                    st.text(f"{one.id[:6]}: {remark}")
            if may_edit():
                _buttons(chosen)


def _table(found: Sequence[Task]) -> Sequence[Task]:
    """Draw a row for each task; return the chosen ones, or all."""
    text = st.column_config.TextColumn
    shown = pd.DataFrame(
        {
            "kind": [one.kind for one in found],
            "id": [one.id[:6] for one in found],
            "state": [one.state for one in found],
            "stage": [one.stage if one.is_active else "" for one in found],
            "progress": [_percent(one) for one in found],
            "left": [left_text(one) for one in found],
            "worker": [", ".join(one.hosts) for one in found],
            "message": [" ".join(one.remarks) for one in found],
            "by": [one.created_by or "-" for one in found],
        }
    )
    state = draw_table(
        shown,
        220,
        {
            "kind": text("Task", width=90),
            "id": text("Id", width=65),
            "state": text("State", width=80),
            "stage": text("Stage", width=110),
            "progress": percent_column(110),
            "left": text("Time left", width=85, help="In this stage, at the rate so far."),
            "worker": text("Worker", width=120),
            "message": text("Message", width=280),
            "by": text("By", width=80),
        },
        key=f"{_TABLE} {hash(tuple(one.id for one in found))}",  # rows are chosen by their place
        on_select="rerun",
        selection_mode="multi-row",
        alt="Tasks",
    )
    if len(found) == MOST_TASKS:
        st.caption(f"The {MOST_TASKS} newest tasks.")
    rows = state.selection.get("rows") or []
    return [found[row] for row in rows if row < len(found)] or found


def _percent(one: Task) -> int:
    if one.state == "done":
        return 100
    return int(100 * (one.done or 0) / one.total) if one.total else 0


def _buttons(chosen: Sequence[Task]) -> None:
    active = [one.id for one in chosen if one.is_active]
    ended = [one.id for one in chosen if one.state in ("failed", "cancelled")]
    task_buttons("tasks", active, ended, _PROBLEM)
