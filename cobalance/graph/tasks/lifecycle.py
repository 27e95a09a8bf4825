"""Create, cancel, retry and read tasks; reports of the workers that execute them.

A task is ``queued``, ``running``, and at its end ``done``, ``failed`` or ``cancelled``. Any worker
that has the packages it needs executes it; when that worker dies, another one starts it again, in
the same attempt. A retry begins another attempt, and reports of earlier ones change nothing.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from cobalance.base import EXTRAS, check_known, require_one
from cobalance.graph.database import TASK, GraphStore, Row, json_text
from cobalance.graph.jobs import ALIVE_S, waits_for
from cobalance.graph.tasks import statements

TaskState = Literal["queued", "running", "done", "failed", "cancelled"]


def task_row(
    kind: str,
    extra: str,
    *,
    settings: Mapping[str, Any] | None = None,
    created_by: str = "",
    task: str | None = None,
) -> Row:
    """A task as Cypher takes it to create one: its key and its properties.

    Raises
    ------
    UnknownNameError
        There is no such extra.
    """
    check_known("extra", [extra.partition(",")[0]], EXTRAS)

    properties = {
        "kind": kind,
        "extra": extra,
        "settings": json_text(settings or {}),
        "state": "queued",
        "created_by": created_by,
        "attempt": 0,
    }
    return {"key": task or uuid.uuid4().hex[:16], "properties": TASK.check(properties)}


def create_task(
    store: GraphStore,
    kind: str,
    extra: str,
    *,
    dataset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    created_by: str = "",
    task: str | None = None,
) -> str:
    """Create a task, which workers then take, and return its id.

    Parameters
    ----------
    kind : str
        What is to be done: a name that workers have a function for.
    extra : str
        What its worker needs installed, as `cobalance.base.plugins.join_needs` says it.
    dataset : str or None
        The dataset that it belongs to, with which it is dropped and renamed.
    settings : mapping, optional
        What the function takes; anything that JSON can hold.
    created_by : str
        Who orders it; empty without a login.
    task : str, optional
        The id to give it. Where there is such a task, nothing changes.

    Raises
    ------
    UnknownNameError
        There is no such extra.
    """
    row = task_row(kind, extra, settings=settings, created_by=created_by, task=task)
    store.write(statements.CREATE_TASK, row=row, dataset=dataset)
    return str(row["key"])


def cancel_task(store: GraphStore, task: str) -> TaskState:
    """Cancel a task unless it has ended; return its state.

    Its worker notices at the next report of its progress. Raises NotFoundError.
    """
    row = require_one(store.write(statements.CANCEL_TASK, task=task), "task", task)
    return row["state"]


def retry_task(store: GraphStore, task: str) -> bool:
    """Queue a task that failed or was cancelled again; return whether it was one.

    Raises NotFoundError.
    """
    row = require_one(store.write(statements.RETRY_TASK, task=task), "task", task)
    return bool(row["again"])


@dataclass(frozen=True)
class StartedTask:
    """A task that a worker has started; `starts` counts the workers that did, in this attempt."""

    kind: str
    dataset: str | None
    settings: Mapping[str, Any]
    starts: int


def start_task(store: GraphStore, task: str, attempt: int) -> StartedTask | None:
    """Mark a task as running; None where it must not run.

    It must not where it has ended, was dropped with its dataset, or was queued again since.
    """
    rows = store.write(statements.START_TASK, task=task, attempt=attempt)
    if not rows:
        return None
    return StartedTask(**rows[0] | {"settings": json.loads(rows[0]["settings"])})


def release_task(store: GraphStore, task: str, attempt: int) -> None:
    """Leave a running task to another worker, as this one has been told to stop."""
    store.write(statements.RELEASE_TASK, task=task, attempt=attempt)


def report_task(
    store: GraphStore, task: str, attempt: int, stage: str, done: int, total: int | None
) -> bool:
    """Write a running task's progress; False where it is not wanted any more."""
    rows = store.write(
        statements.REPORT_TASK, task=task, attempt=attempt, stage=stage, done=done, total=total
    )
    return bool(rows)


def end_task(store: GraphStore, task: str, attempt: int, *, note: str = "") -> None:
    """Mark a running task as done, with a note on its result for people."""
    store.write(statements.END_TASK, task=task, attempt=attempt, note=note)


def fail_task(store: GraphStore, task: str, attempt: int, error: str) -> None:
    """Mark a task as failed, with the reason."""
    store.write(statements.FAIL_TASK, task=task, attempt=attempt, error=error)


@dataclass(frozen=True)
class Task:
    """A task, as `cobalance.graph.database.evaluation_nodes.TASK` says, and its progress.

    Parameters
    ----------
    state : TaskState
        As the module says.
    stage, note, error, created_by : str
        Empty where there is none.
    created_at, started_at, stage_at, updated_at, ended_at : datetime or None
        In UTC.
    workers : int
        Workers alive that are at it, or at nothing and could take it.
    hosts : tuple of str
        Machines of those that are at it.
    """

    id: str
    kind: str
    extra: str
    dataset: str | None
    settings: Mapping[str, Any]
    state: TaskState
    stage: str
    done: int | None
    total: int | None
    note: str
    error: str
    created_by: str
    created_at: datetime | None
    started_at: datetime | None
    stage_at: datetime | None
    updated_at: datetime | None
    ended_at: datetime | None
    attempt: int
    workers: int
    hosts: tuple[str, ...]

    @property
    def seconds_left(self) -> float | None:
        """Until the end of its stage, at the rate so far; None where that is not known."""
        if self.state != "running" or not (self.hosts and self.done and self.total):
            return None
        if self.stage_at is None or self.updated_at is None:
            return None

        elapsed_s = (self.updated_at - self.stage_at).total_seconds()
        return elapsed_s * max(self.total - self.done, 0) / self.done

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("queued", "running")

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for people: why it failed, notes on its result."""
        remarks = [self.error, self.note]
        if self.is_active and not self.workers:
            remarks.append(waits_for(self.extra))
        return tuple(filter(None, remarks))


@dataclass(frozen=True)
class ActiveTask:
    """A task that is queued or running, as workers need it."""

    id: str
    kind: str
    extra: str
    attempt: int


def read_task(store: GraphStore, task: str) -> Task:
    """Read a task; raises NotFoundError."""
    rows = store.read(statements.READ_TASK, task=task, alive_ms=int(ALIVE_S * 1000))
    return _task(require_one(rows, "task", task)["task"])


def list_tasks(store: GraphStore, dataset: str | None = None, *, limit: int = 100) -> list[Task]:
    """List the tasks of a dataset, or of all for None; newest first."""
    rows = store.read(
        statements.TASKS if dataset is None else statements.TASKS_OF_DATASET,
        dataset=dataset,
        limit=limit,
        alive_ms=int(ALIVE_S * 1000),
    )

    return [_task(row["task"]) for row in rows]


def active_tasks(store: GraphStore) -> list[ActiveTask]:
    """List the queued and running tasks, oldest first."""
    return [ActiveTask(**row) for row in store.read(statements.ACTIVE_TASKS)]


def _task(row: Row) -> Task:
    """The task of a row; texts that it lacks are empty."""
    texts = {name: row[name] or "" for name in ("stage", "note", "error")}
    return Task(**TASK.parse(row) | texts | {"hosts": tuple(sorted(row["hosts"]))})
