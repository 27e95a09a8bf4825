"""`cobalance jobs` and `work`: list, show, cancel, retry, drop, reorder and run jobs and tasks."""

import os
import socket
from collections.abc import Sequence
from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    Assignments,
    DatasetOption,
    JobId,
    LimitOption,
    SettingsFile,
    TableOutput,
    WorkId,
    folders,
    note_limit,
    notes,
    opened_store,
    out,
    progress_bars,
    read_environment,
    read_settings,
)
from cobalance.base import NotFoundError, inflect, needs_extra
from cobalance.generation import recipes
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import state as states
from cobalance.graph.evaluations import writing
from cobalance.graph.jobs import lifecycle as job_states, reports, status as jobs
from cobalance.graph.tasks import lifecycle as task_states
from cobalance.workflows.order import job as job_orders
from cobalance.workflows.work import tables as work_tables

app = typer.Typer(no_args_is_help=True)

_ACCEPTANCE = ("acceptance", "acceptance_low", "acceptance_high")


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
    jobs_found: list[jobs.Job] = []
    tasks_found: list[task_states.Task] = []
    with opened_store() as (store, _):
        if dataset is not None:
            states.dataset_state(store, dataset)
        # One more than is shown tells whether there are more.
        if not tasks:
            jobs_found = jobs.list_jobs(store, dataset, limit=limit + 1)
        if tasks or to.is_shown:
            tasks_found = task_states.list_tasks(store, dataset, limit=limit + 1)

    if tasks or tasks_found:
        _write_tasks(to, tasks_found[:limit])
    if not tasks and (jobs_found or not tasks_found):
        _write_jobs(to, jobs_found[:limit])
    if max(len(jobs_found), len(tasks_found)) > limit:
        note_limit(limit)


@app.command()
def show(to: TableOutput, job: WorkId, limit: LimitOption = 50) -> None:
    """Show the progress of a job, query by query, or of a task."""
    with opened_store() as (store, _):
        if _has_task(store, job):
            _write_tasks(to, [task_states.read_task(store, job)])
            return
        status = jobs.read_job(store, job)
        queries = jobs.read_queries(store, job, limit=limit)

    # Only jobs that edit images have images to edit.
    edits = ["source_image"] if queries["source_image"].notna().any() else []
    progress = ["n", "state", "accepted", "rejected", *_ACCEPTANCE, "to_make", "message"]
    queries = work_tables.add_acceptance(status, queries)
    frame = queries[["position", "class_name", *edits, "concepts", *progress]]
    frame = frame.rename(columns={"class_name": "class"})
    if not to.is_shown:
        to.write(frame)
    else:
        _write_jobs(to, [status])
        narrow = frame.drop(columns=["message", "to_make", *_ACCEPTANCE])
        narrow["acceptance, %"] = work_tables.acceptance_texts(frame)
        to.write(narrow, unbroken=["state", "acceptance, %"])
        for sentence in work_tables.describe_pace(status):
            out.print(sentence)
        for message, rows in frame.groupby("message", sort=False):
            # The error of the whole job is printed already.
            if message not in ("", status.error):
                positions = ", ".join(map(str, rows["position"]))
                out.print(f"At {positions}: {message}")
        if status.short:
            notes.print(_short_text(status))

    if sum(status.queries.values()) > limit:
        note_limit(limit)


def _short_text(job: "jobs.Job") -> str:
    """Name the commands for queries with fewer images than wanted."""
    return (
        f"{inflect(job.short, 'queries')} gave up with fewer images than wanted. "
        f"To go on all the same: cobalance jobs retry {job.id} --short. To do without the rest: "
        f"cobalance jobs drop {job.id}. To make it otherwise: cobalance jobs reorder {job.id} "
        "--recipe NAME, or --set NAME=VALUE for other sources."
    )


def _write_jobs(to: TableOutput, listed: "list[jobs.Job]") -> None:
    """Write a row for each job; in a terminal with the reasons of failures below."""
    frame = work_tables.jobs_frame(listed)
    if not to.is_table:
        to.write(frame)
    elif not listed:
        notes.print("There is no job. Order images with `cobalance enqueue DATASET`.")
    else:
        frame["accepted"] = [f"{job.accepted:,} of {job.wanted:,}" for job in listed]
        columns = ["job", "dataset", "plan", "state", "accepted", "rejected"]
        if frame["pending"].any():
            columns.append("pending")
        to.write(
            frame[columns], whole=True, unbroken=["job", "accepted"], spare=["plan", "rejected"]
        )
        _print_remarks(listed)


def _print_remarks(listed: "Sequence[jobs.Job | task_states.Task]") -> None:
    for work_item in listed:
        for remark in work_item.remarks:
            notes.print(f"{work_item.id}: {remark}")


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
        _check_workers(dead_after)
        return

    with needs_extra("A worker", "worker"):
        from cobalance.workflows import gpu_numbers, run_on_gpus, run_worker
    if gpus is not None:
        numbers = gpu_numbers(gpus)
        run_on_gpus(numbers, os.environ, until_idle=until_idle, dead_after_s=dead_after)
    else:
        run_worker(
            read_environment(),
            until_idle=until_idle,
            dead_after_s=dead_after,
            say=notes.print,
            progress_bars=progress_bars,
        )


def _check_workers(dead_after_s: float) -> None:
    """Print how many workers of this machine are alive; exit with 1 if none is."""
    host = socket.gethostname()
    with opened_store() as (store, _):
        workers = reports.workers_alive(store, within_s=dead_after_s)
    alive = [worker for worker in workers if worker.host == host]
    if not alive:
        notes.print(f"No worker of {host} has sent a heartbeat for {dead_after_s:g} s.")
        raise typer.Exit(1)
    out.print(f"{inflect(len(alive), 'workers')} of {host}.")


@app.command()
def cancel(job: WorkId) -> None:
    """Cancel a job or task: images in progress are finished and kept, the rest is not started."""
    with opened_store() as (store, _):
        is_task = _has_task(store, job)
        cancel_work = task_states.cancel_task if is_task else job_states.cancel_job
        state = cancel_work(store, job)
    message = f"{'Task' if is_task else 'Job'} {job} is {state}."
    if state != "cancelled":
        message += " It had ended: there is nothing to cancel."
    notes.print(message)


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
        status = jobs.read_job(store, job)

    if queued:
        again = f"{inflect(queued, 'queries')} queued again."
    elif status.is_active:
        again = "it goes on with what is left."
    elif status.short and not short:
        again = (
            f"nothing of it failed. {inflect(status.short, 'queries')} gave fewer images than "
            f"wanted; to ask for them again: cobalance jobs retry {job} --short; to do without "
            f"them: cobalance jobs drop {job}"
        )
    else:
        again = "nothing of it failed, and no image is missing."
    notes.print(f"Job {job} is {status.state}: {again}")


@app.command()
def drop(job: JobId) -> None:
    """Do without the missing images of queries that gave up; accepted ones stay."""
    with opened_store() as (store, _):
        dropped = job_states.drop_short(store, job)
    if dropped:
        notes.print(f"Job {job} does without what {inflect(dropped, 'queries')} gave up.")
    else:
        notes.print(f"No query of job {job} has given up: there is nothing to drop.")


@app.command()
def reorder(
    job: JobId,
    recipe: Annotated[
        str | None,
        f"The recipe: {', '.join(recipes.RECIPES)}. Default: the job's, with its settings.",
    ] = None,
    setting: Annotated[
        Assignments, "An option of the new job, such as split=train or making.steps=30. Repeat it."
    ] = None,
    settings: SettingsFile = None,
) -> None:
    """Order the images that queries gave up as a new job, with another recipe or other sources.

    The old job does without them from then on.
    """
    with opened_store() as (store, progress):
        earlier = jobs.read_job(store, job)
        chosen = job_orders.settings_to_reuse(earlier, recipe)
        checked = read_settings(settings, chosen, {}, (), setting or ())
        places = folders().image_roots(earlier.dataset)
        new_job = job_orders.reorder_short(store, job, checked, progress, places=places)
    out.print(new_job)
    notes.print(f"Job {new_job} makes what job {job} gave up. Next: cobalance work --until-idle")


def _has_task(store: "stores.GraphStore", name: str) -> bool:
    """Whether an id is that of a task."""
    try:
        task_states.read_task(store, name)
    except NotFoundError:
        return False
    return True


def _write_tasks(to: TableOutput, listed: "Sequence[task_states.Task]") -> None:
    """Write a row for each task; as a table with the reasons of failures below."""
    frame = work_tables.tasks_frame(listed)
    if not to.is_table:
        to.write(frame)
        return
    if not listed:
        notes.print("There is no task.")
        return

    table = frame[["task", "kind", "dataset", "state"]].fillna("")
    table["progress"] = list(map(_progress_text, listed))
    if any(task.state == "running" for task in listed):
        table["left"] = list(map(_left_text, listed))
        table["worker"] = [", ".join(task.hosts) for task in listed]
    to.write(table, whole=True, unbroken=["task", "state"])
    _print_remarks(listed)
    if len(listed) == 1 and listed[0].kind == writing.KIND and listed[0].state == "done":
        notes.print(f"Next: cobalance evaluate show {listed[0].id}")


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
    total = "" if task.total is None else f" of {task.total:,}"
    return f"{task.stage}: {task.done:,}{total}"
