"""Create, follow, accept and reject annotation runs.

A run is ``queued`` while its tasks wait or run, then ``done``; a person ``accepted`` or
``rejected`` it since. Of a run that asks a language model the state is ``running`` meanwhile, and
``failed`` where it has given up.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from cobalance.base import OptionError, require_one
from cobalance.graph.annotations import statements
from cobalance.graph.database import ANNOTATION_RUN, GraphStore, Row, json_text, utc_time
from cobalance.graph.dataset import busy_dataset, dataset_state
from cobalance.graph.tasks import cancel_task, retry_task, task_row

RunKind = Literal["propose", "label", "caption"]
RunState = Literal["queued", "running", "done", "failed", "cancelled", "accepted", "rejected"]
TASK_KIND = "label"
"""The kind of the tasks that label images."""


@dataclass(frozen=True)
class NewRun:
    """An annotation run to create, as `cobalance.graph.database.annotation_nodes` says.

    Parameters
    ----------
    settings : mapping
        Anything that JSON can hold.
    id : str
        Unique in the store.
    """

    kind: RunKind
    model: str
    settings: Mapping[str, Any]
    revision: str | None = None
    weights_sha256: str | None = None
    licence: str | None = None
    prompt_sha256: str | None = None
    scores_uri: str | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])


@dataclass(frozen=True)
class AnnotationRun:
    """An annotation run, as `cobalance.graph.database.annotation_nodes` says, and its progress.

    Parameters
    ----------
    state : RunState
        Also ``failed`` or ``running`` where a task of it is.
    created_by, decided_by : str
        Empty without a login.
    created_at, started_at, ended_at, decided_at : datetime or None
        In UTC; the second is when the first of its tasks was taken.
    outdated : bool
        Whether the dataset's images have changed since, or are gone.
    done, failed : int
        Tasks that have ended, and that have failed.
    """

    id: str
    dataset: str
    kind: RunKind
    model: str
    state: RunState
    revision: str | None
    weights_sha256: str | None
    licence: str | None
    prompt_sha256: str | None
    scores_uri: str | None
    settings: Mapping[str, Any]
    images_digest: int | None
    chunks: int
    error: str
    created_by: str
    decided_by: str
    created_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    decided_at: datetime | None
    outdated: bool
    done: int
    failed: int

    @property
    def has_labels(self) -> bool:
        """Whether it labels images, and has ended."""
        return self.kind != "propose" and self.state in ("done", "accepted", "rejected")


def create_run(
    store: GraphStore,
    dataset: str,
    new: NewRun,
    *,
    tasks: Sequence[Mapping[str, Any]] = (),
    extra: str = "models",
    created_by: str = "",
) -> str:
    """Create a run, with a task for each of the settings given, all or nothing; return its id.

    Parameters
    ----------
    tasks : sequence of mapping
        Settings of its tasks; ``run`` is added. Without any the run is ``running``: whoever
        creates it does the work.
    extra : str
        What the workers of its tasks need, as `cobalance.base.plugins.join_needs` says it.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete()
    properties = dict(vars(new))
    properties |= {
        "settings": json_text(new.settings),
        "state": "queued" if tasks else "running",
        "chunks": len(tasks),
        "created_by": created_by,
    }
    run_id = properties.pop("id")
    row = {"key": run_id, "properties": ANNOTATION_RUN.check(properties)}

    task_rows = []
    for number, settings in enumerate(tasks):
        settings = {**settings, "run": run_id}
        task = f"{run_id}-{number}"
        task_rows.append(
            task_row(TASK_KIND, extra, settings=settings, created_by=created_by, task=task)
        )

    if not store.write(statements.CREATE_RUN, dataset=dataset, row=row, tasks=task_rows):
        raise busy_dataset(dataset)
    return new.id


def _set_run(
    store: GraphStore,
    run: str,
    states: Sequence[RunState],
    values: Mapping[str, Any],
    *,
    ends: bool = False,
    decides: bool = False,
) -> bool:
    """Write properties of a run in one of some states; whether it was."""
    rows = store.write(
        statements.SET_RUN,
        run=run,
        states=list(states),
        values=ANNOTATION_RUN.check(dict(values)),
        ends=ends,
        decides=decides,
    )
    return bool(rows)


def describe_run(store: GraphStore, run: str, values: Mapping[str, str]) -> None:
    """Record properties of a run's model that are known once it is loaded, such as a digest."""
    _set_run(store, run, ("queued", "running", "failed", "done", "accepted", "rejected"), values)


def change_settings(store: GraphStore, run: str, settings: Mapping[str, Any]) -> None:
    """Write other settings of a run, such as thresholds."""
    describe_run(store, run, {"settings": json_text(settings)})


def end_run(store: GraphStore, run: str, *, error: str = "") -> None:
    """Mark a run as done, or as failed for a reason."""
    values = {"state": "failed" if error else "done", "error": error}
    _set_run(store, run, ("queued", "running", "failed"), values, ends=True)


def decide_run(
    store: GraphStore, run: str, state: Literal["accepted", "rejected"], decided_by: str = ""
) -> bool:
    """Accept or reject a run that is done; whether it was one. See `graph.annotations.found`."""
    values = {"state": state, "decided_by": decided_by}
    return _set_run(store, run, ("done", "accepted", "rejected"), values, decides=True)


def cancel_run(store: GraphStore, run: str) -> None:
    """Cancel a run's tasks; their scores stay. Raises NotFoundError."""
    read_run(store, run)
    for task in store.read(statements.RUN_TASKS, run=run):
        cancel_task(store, task["id"])
    _set_run(store, run, ("queued", "running"), {"state": "cancelled"}, ends=True)


def retry_run(store: GraphStore, run: str) -> int:
    """Queue a run's failed and cancelled tasks again; how many. Raises NotFoundError."""
    read_run(store, run)
    _set_run(store, run, ("cancelled", "failed"), {"state": "queued", "error": ""})
    tasks = store.read(statements.RUN_TASKS, run=run)
    return sum(retry_task(store, task["id"]) for task in tasks)


def delete_run(store: GraphStore, run: str) -> None:
    """Delete a run that was not accepted; its files stay. Raises NotFoundError."""
    read_run(store, run)
    store.write(statements.DELETE_RUN, run=run)


def read_run(store: GraphStore, run: str) -> AnnotationRun:
    """Read a run; raises NotFoundError."""
    return _run(require_one(store.read(statements.RUN, run=run), "annotation run", run))


def read_labelling(store: GraphStore, run: str) -> AnnotationRun:
    """Read a run; raises NotFoundError, or OptionError if it labels nothing."""
    annotation_run = read_run(store, run)
    if annotation_run.kind == "propose":
        raise OptionError(f"The run {run} proposed attributes. Review these; it labels nothing.")
    return annotation_run


def list_runs(
    store: GraphStore, dataset: str | None = None, *, limit: int = 1000
) -> list[AnnotationRun]:
    """List the annotation runs of a dataset, or of all for None; newest first."""
    return [_run(row) for row in store.read(statements.RUNS, dataset=dataset, limit=limit)]


def has_accepted(store: GraphStore, dataset: str) -> bool:
    """Whether some accepted run labels a dataset's images."""
    runs = list_runs(store, dataset)
    return any(run.state == "accepted" and run.kind != "propose" for run in runs)


def _run(row: Row) -> AnnotationRun:
    """The run of a row, with the state that its tasks give it."""
    stored = ANNOTATION_RUN.parse(row["run"])
    stored["error"] = stored["error"] or "; ".join(filter(None, row["failures"]))
    stored["decided_by"] = stored["decided_by"] or ""

    # The node is queued until all tasks have ended.
    if stored["state"] == "queued" and row["failed"]:
        stored["state"] = "failed"
    elif stored["state"] == "queued" and (row["running"] or row["ended"]):
        stored["state"] = "running"

    return AnnotationRun(
        **stored,
        started_at=row["started_at"] and utc_time(row["started_at"]),
        outdated=row["outdated"],
        done=row["ended"],
        failed=row["failed"],
    )
