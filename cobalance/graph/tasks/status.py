"""Progress of tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cobalance.graph.database.evaluation_nodes import TASK
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.errors import require_one
from cobalance.graph.jobs.reports import ALIVE_S
from cobalance.graph.tasks import statements
from cobalance.graph.tasks.lifecycle import TaskState


@dataclass(frozen=True)
class Task:
    """A task and its progress.

    Parameters
    ----------
    id, kind, extra : str
        Its own name, what is done, and the extra that its worker needs.
    dataset : str or None
        The dataset that it belongs to.
    settings : mapping
        As given to `cobalance.graph.tasks.lifecycle.create_task`.
    state : TaskState
        As in `cobalance.graph.tasks.lifecycle`.
    stage : str
        What it is at; empty before its first report.
    done, total : int or None
        Of the stage; None where it is not known.
    note, error, created_by : str
        Remarks on its result; why it failed; who ordered it. Empty where there is none.
    created_at, started_at, stage_at, updated_at, ended_at : datetime or None
        In UTC; `stage_at` is when its stage began, `updated_at` its last change.
    attempt : int
        How often it was queued again.
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
        return tuple(text for text in (self.error, self.note) if text)


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
    texts = {name: row[name] or "" for name in ("stage", "note", "error")}
    return Task(**TASK.parse(row) | texts | {"hosts": tuple(sorted(row["hosts"]))})
