"""`cobalance jobs` and `work`: list, show, cancel, retry and run jobs and tasks."""

import os
import socket
from collections.abc import Sequence
from typing import Annotated

import typer

from cobalance.app.cli.shared.ids import WorkId
from cobalance.app.cli.shared.options import DatasetOption, LimitOption, note_limit
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.stores import environment, opened_store
from cobalance.app.cli.shared.tables import TableOutput
from cobalance.app.cli.shared.terminal import notes, out
from cobalance.base.errors import NotFoundError, needs_extra
from cobalance.base.plurals import inflect
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import state as states
from cobalance.graph.evaluations import writing
from cobalance.graph.jobs import lifecycle as job_states, reports, status as jobs
from cobalance.graph.tasks import lifecycle as task_states
from cobalance.workflows.work import tables as work_tables

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_(
    to: TableOutput,
    tasks: Annotated[bool, "Only tasks, such as evaluations, and no jobs."] = False,
    dataset: Annotated[DatasetOption, "The dataset whose jobs and tasks are listed."] = None,
    limit: LimitOption = 50,
) -> None:
    """Show the progress of all jobs and tasks.

    A job makes images; a task is other long work on the queue, such as an evaluation. CSV, JSON and
    Parquet have the jobs, or with --tasks the tasks.
    """
    with opened_store() as (store, _):
        if dataset is not None:
            states.dataset_state(store, dataset)
        found = [] if tasks else jobs.list_jobs(store, dataset, limit=limit + 1)
        beside = (
            task_states.list_tasks(store, dataset, limit=limit + 1) if tasks or to.is_shown else []
        )
    if tasks or beside:
        _write_tasks(to, beside[:limit])
    if not tasks and (found or not beside):
        _write_jobs(to, found[:limit])
    if max(len(found), len(beside)) > limit:
        note_limit(limit)


@app.command()
def show(to: TableOutput, job: WorkId, limit: LimitOption = 50) -> None:
    """Show the progress of a job, query by query, or of a task."""
    with opened_store() as (store, _):
        if _has_task(store, job):
            _write_tasks(to, [task_states.read_task(store, job)])
            return
        one = jobs.read_job(store, job)
        queries = jobs.read_queries(store, job, limit=limit)
    edits = ["source_image"] if queries["source_image"].notna().any() else []
    of_work = ["n", "state", "accepted", "rejected", "message"]
    frame = queries[["position", "class_name", *edits, "concepts", *of_work]]
    frame = frame.rename(columns={"class_name": "class"})
    if not to.is_shown:
        to.write(frame)
    else:
        _write_jobs(to, [one])
        to.write(frame.drop(columns="message"), unbroken=["state"])
        for message, rows in frame.groupby("message", sort=False):
            if message in ("", one.error):
                continue
            positions = ", ".join(map(str, rows["position"]))
            out.print(f"At {positions}: {message}")
    if sum(one.queries.values()) > limit:
        note_limit(limit)


def _write_jobs(to: TableOutput, found: "list[jobs.Job]") -> None:
    """Write a row for each job; in a terminal with the reasons of failures below."""
    frame = work_tables.jobs_frame(found)
    if not to.is_table:
        to.write(frame)
        return
    if not found:
        notes.print("There is no job. Order images with `cobalance enqueue DATASET`.")
        return
    frame["accepted"] = [f"{job.accepted:,} of {job.wanted:,}" for job in found]
    pending = ["pending"] if frame["pending"].any() else []
    shown = frame[["job", "dataset", "plan", "state", "accepted", "rejected", *pending]]
    whole, spare = ["job", "accepted"], ["plan", "rejected"]
    to.write(shown, whole=True, unbroken=whole, spare=spare)
    _say_remarks(found)


def _say_remarks(found: "Sequence[jobs.Job | task_states.Task]") -> None:
    for one in found:
        for remark in one.remarks:
            notes.print(f"{one.id}: {remark}")


def work(
    until_idle: Annotated[bool, "End when no job or task is left to run."] = False,
    gpus: Annotated[
        str | None,
        typer.Option(show_default=False),
        "One worker process for each of these GPUs, as 0,1,2 or all. Default: one worker in this "
        "process, on the first GPU if there is any.",
    ] = None,
    dead_after: Annotated[
        float,
        typer.Option(min=1),
        "Seconds without a heartbeat after which workers on other machines count as dead.",
    ] = 30.0,
    check: Annotated[
        bool,
        "Run none: exit with 0 where a worker of this machine has sent a heartbeat within "
        "--dead-after, else with 1, as health checks ask.",
    ] = False,
) -> None:
    """Run a worker, which makes the images of all jobs and runs tasks, such as evaluations.

    Any number of workers share the work. Ctrl-C ends one.

    Workers on other machines join with the same NEO4J_URI, COBALANCE_QUEUE (Postgres) and
    COBALANCE_OUTPUT (a shared folder or a URL), and see the images in COBALANCE_IMAGES.
    """
    if check:
        host = socket.gethostname()
        with opened_store() as (store, _):
            workers = reports.workers_alive(store, within_s=dead_after)
        alive = [one for one in workers if one.host == host]
        if not alive:
            notes.print(f"No worker of {host} has sent a heartbeat for {dead_after:g} s.")
            raise typer.Exit(1)
        out.print(f"{inflect(len(alive), 'workers')} of {host}.")
        return
    with needs_extra("A worker", "worker"):
        from cobalance.workflows.work.run import gpu_numbers, run_on_gpus, run_worker
    if gpus is not None:
        numbers = gpu_numbers(gpus)
        run_on_gpus(numbers, os.environ, until_idle=until_idle, dead_after_s=dead_after)
        return
    run_worker(
        environment(),
        until_idle=until_idle,
        dead_after_s=dead_after,
        say=notes.print,
        progress_bars=progress_bars,
    )


@app.command()
def cancel(job: WorkId) -> None:
    """Cancel a job or task: images in progress are finished and kept, the rest is not started."""
    with opened_store() as (store, _):
        is_task = _has_task(store, job)
        cancel_one = task_states.cancel_task if is_task else job_states.cancel_job
        state = cancel_one(store, job)
    ended = "" if state == "cancelled" else " It had ended: there is nothing to cancel."
    notes.print(f"{'Task' if is_task else 'Job'} {job} is {state}.{ended}")


@app.command()
def retry(
    job: WorkId,
    short: Annotated[
        bool, "Also requeue queries that gave up, and those whose images people rejected."
    ] = False,
) -> None:
    """Requeue the failed queries of a job or a failed task, or resume what was cancelled."""
    with opened_store() as (store, _):
        if _has_task(store, job):
            queued_again = task_states.retry_task(store, job)
            state = task_states.read_task(store, job).state
            again = "it runs again." if queued_again else "there is nothing to retry."
            notes.print(f"Task {job} is {state}: {again}")
            return
        queued = job_states.retry_job(store, job, short=short)
        found = jobs.read_job(store, job)
    if queued:
        again = f"{inflect(queued, 'queries')} queued again."
    elif found.is_active:
        again = "it goes on with what is left."
    elif found.short and not short:
        again = (
            f"nothing of it failed. {inflect(found.short, 'queries')} gave fewer images than "
            f"wanted; to ask for them again: cobalance jobs retry {job} --short"
        )
    else:
        again = "nothing of it failed, and no image is missing."
    notes.print(f"Job {job} is {found.state}: {again}")


def _has_task(store: "stores.GraphStore", name: str) -> bool:
    """Whether an id is that of a task."""
    try:
        task_states.read_task(store, name)
    except NotFoundError:
        return False
    return True


def _write_tasks(to: TableOutput, found: "Sequence[task_states.Task]") -> None:
    """Write a row for each task; as a table with the reasons of failures below."""
    frame = work_tables.tasks_frame(found)
    if not to.is_table:
        to.write(frame)
        return
    if not found:
        notes.print("There is no task.")
        return
    shown = frame[["task", "kind", "dataset", "state"]].fillna("")
    shown["progress"] = [_progress_text(task) for task in found]
    if any(task.state == "running" for task in found):
        shown["left"] = [_left_text(task) for task in found]
        shown["worker"] = [", ".join(task.hosts) for task in found]
    to.write(shown, whole=True, unbroken=["task", "state"])
    _say_remarks(found)
    if len(found) == 1 and found[0].kind == writing.KIND and found[0].state == "done":
        notes.print(f"Next: cobalance evaluate show {found[0].id}")


def _left_text(task: "task_states.Task") -> str:
    """How long a running task's stage still takes, where that is known."""
    if task.state != "running":
        return ""
    if not task.workers:
        return "waits for a worker"
    return "" if task.seconds_left is None else f"{task.seconds_left:,.0f} s"


def _progress_text(task: "task_states.Task") -> str:
    """The stage of a running task, such as ``train: 3 of 10``."""
    if task.state != "running" or not task.stage:
        return ""
    if task.done is None:
        return task.stage
    of = "" if task.total is None else f" of {task.total:,}"
    return f"{task.stage}: {task.done:,}{of}"
