"""The table of tasks."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cobalance.app.cli.common import notes, out
from cobalance.app.cli.tables import Format, write_frame
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import JobNotFoundError
from cobalance.graph.evaluations.writing import KIND
from cobalance.graph.tasks.status import Task, read_task
from cobalance.workflows.work.tables import tasks_frame


def has_task(store: GraphStore, name: str) -> bool:
    """Whether an id is that of a task."""
    try:
        read_task(store, name)
    except JobNotFoundError:
        return False
    return True


def write_tasks(found: Sequence[Task], format_: Format, output: Path | None) -> None:
    """Write a row for each task; as a table with the reasons of failures below."""
    if format_ is not Format.TABLE:
        write_frame(tasks_frame(found), format_, output, out)
        return
    if not found:
        notes.print("There is no task.")
        return
    shown = pd.DataFrame(
        {
            "task": [task.id for task in found],
            "kind": [task.kind for task in found],
            "dataset": [task.dataset or "" for task in found],
            "state": [task.state for task in found],
            "progress": [progress_text(task) for task in found],
        }
    )
    if any(task.state == "running" for task in found):
        shown["left"] = [left_text(task) for task in found]
        shown["worker"] = [", ".join(task.hosts) for task in found]
    write_frame(shown, format_, output, out, whole=True, unbroken=["task", "state"])
    for task in found:
        for remark in task.remarks:
            notes.print(f"{task.id}: {remark}", markup=False)
    if len(found) == 1 and found[0].kind == KIND and found[0].state == "done":
        notes.print(f"Next: cobalance evaluate show {found[0].id}", markup=False)


def left_text(task: Task) -> str:
    """How long a running task's stage still takes, where that is known."""
    if task.state != "running":
        return ""
    if not task.workers:
        return "waits for a worker"
    return "" if task.seconds_left is None else f"{task.seconds_left:,.0f} s"


def progress_text(task: Task) -> str:
    """What a running task is at, such as ``train: 3 of 10``."""
    if task.state != "running" or not task.stage:
        return ""
    if task.done is None:
        return task.stage
    of = "" if task.total is None else f" of {task.total:,}"
    return f"{task.stage}: {task.done:,}{of}"
