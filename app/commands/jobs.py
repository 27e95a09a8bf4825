"""`cobalance enqueue`, `jobs`, `work`, `cancel` and `retry`: from a plan to images."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from app.commands.common import (
    DatasetName,
    FormatOption,
    OutputOption,
    notes,
    opened_store,
    out,
)
from app.output import Format, write_frame
from generation.backends import BACKENDS
from generation.filters import FILTERS
from generation.plan_file import plan_from_json
from graph.datasets import dataset_state
from graph.errors import InputError, MissingExtraError, OptionError
from graph.job_progress import Job, list_jobs, read_job, read_queries
from graph.jobs import cancel_job, create_job, retry_job
from graph.plans import PlannedQuery, read_plan

JobId = Annotated[str, typer.Argument(metavar="JOB", help="A job's id, see `cobalance jobs`.")]


def enqueue(
    dataset: DatasetName,
    plan: Annotated[str, typer.Option(help="The plan's name in the dataset.")] = "conbias",
    plan_file: Annotated[
        Path | None,
        typer.Option(help="A plan as `cobalance plan --format json` writes it, in its place."),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(help=f"What makes the images: {', '.join(BACKENDS)}. Default: procedural."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Its model: a folder, or owner/name of the hub. Default: its own."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="faithful to the paper, or fast. Default: faithful.")
    ] = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", help=f"What judges them: {', '.join(FILTERS)}. Repeat it; `none` for none."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting, such as making.steps=30, masks.object=person or "
            "filters.clip.threshold=0.65. Repeat it.",
        ),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A TOML file of settings; the options above win over it.")
    ] = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Order a plan's images: create a job, which workers then run."""
    values: dict[str, Any] = {} if settings is None else _read_toml(settings)
    for name in ("making", "filters"):
        if not isinstance(values.get(name, {}), dict):
            raise OptionError(f"{settings}: {name} is no table of settings. Write [{name}] for it.")
    values.setdefault("making", {})
    values["backend"] = backend or values.get("backend", "procedural")
    if model is not None:
        values["making"]["model"] = model
    if preset is not None:
        values["making"]["preset"] = preset
    if filter_:
        names = [name for name in filter_ if name != "none"]
        given = values.get("filters", {})
        values["filters"] = {name: given.get(name, {}) for name in names}
    elif "filters" not in values and any(one.startswith("filters.") for one in setting or ()):
        values["filters"] = _usual_filters(values["backend"])  # beside the one that is meant
    for assignment in setting or ():
        _assign(values, assignment)
    checked = _check_settings(values)
    with opened_store() as (store, progress):
        if plan_file is None:
            queries = read_plan(store, dataset, plan)
        else:
            queries, plan = _read_plan_file(plan_file)
        if not queries:
            raise OptionError(
                f"The plan {plan!r} asks for no images: no gap of its sizes is left. To balance "
                f"single concepts too: cobalance plan {dataset} --min-size 1."
            )
        job = create_job(store, dataset, plan, queries, settings=checked, progress=progress)
        created = read_job(store, job)
    if format_ is not Format.TABLE:
        write_frame(_jobs_frame([created]), format_, None, out)
        return
    out.print(job, markup=False)
    notes.print(
        f"Job {job}: {created.wanted:,} images in {len(queries):,} queries, by the backend "
        f"{checked['backend']}. Make them: cobalance work --until-idle",
        markup=False,
    )


def jobs(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="One job, with its queries; without it all jobs."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", help="Only this dataset's jobs.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 50,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Show how far jobs are, or one job query by query."""
    with opened_store() as (store, _):
        if job is None:
            if dataset is not None:
                dataset_state(store, dataset)
            found = list_jobs(store, dataset, limit=limit)
            if not found and format_ is Format.TABLE:
                notes.print("There is no job. Order images with `cobalance enqueue DATASET`.")
                return
            shown = _for_people(found) if format_ is Format.TABLE else _jobs_frame(found)
            write_frame(shown, format_, output, out, whole=True, unbroken=["job"])
            for one in found:
                if format_ is Format.TABLE and one.error:
                    notes.print(f"{one.id}: {one.error}", markup=False)
            return
        one = read_job(store, job)
        queries = read_queries(store, job, limit=limit)
    if format_ is Format.TABLE and output is None:
        write_frame(_for_people([one]), format_, None, out, whole=True, unbroken=["job"])
        if one.error:
            out.print(one.error, markup=False)
    frame = queries[
        ["position", "class_name", "concepts", "n", "state", "accepted", "rejected", "message"]
    ].rename(columns={"class_name": "class"})
    write_frame(frame, format_, output, out)


def work(
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when no job is left to run.")
    ] = False,
    gpus: Annotated[
        str | None,
        typer.Option(
            help="One worker process for each of these GPUs, as 0,1,2 or all. Default: one worker "
            "in this process, on the first GPU if there is any.",
            show_default=False,
        ),
    ] = None,
    dead_after: Annotated[
        float,
        typer.Option(
            min=1, help="Take workers on other machines for dead after so many seconds of silence."
        ),
    ] = 30.0,
) -> None:
    """Make the images of all jobs; any number of workers share them. Ctrl-C ends one.

    Workers on other machines join with the same NEO4J_URI, COBALANCE_QUEUE (Postgres) and
    COBALANCE_OUTPUT (a shared folder or a URL), and see the images in COBALANCE_IMAGES.
    """
    try:
        from app import workers
    except ModuleNotFoundError as error:
        raise MissingExtraError("A worker", "worker") from error
    workers.work(until_idle=until_idle, gpus=gpus, dead_after_s=dead_after, say=_say)


def cancel(job: JobId) -> None:
    """Cancel a job: what is being made is finished and kept, the rest is not begun."""
    with opened_store() as (store, _):
        state = cancel_job(store, job)
    notes.print(f"Job {job} is {state}.", markup=False)


def retry(
    job: JobId,
    short: Annotated[
        bool,
        typer.Option(
            "--short", help="Also ask again for images that a query gave up, or people rejected."
        ),
    ] = False,
) -> None:
    """Queue the failed queries of a job again, and go on with a cancelled one."""
    with opened_store() as (store, _):
        queued = retry_job(store, job, short=short)
        state = read_job(store, job).state
    again = f"{queued:,} queries were queued again." if queued else "it goes on with what is left."
    if state in ("done", "failed"):
        again = "nothing of it failed. To ask again for images that are missing: --short."
    notes.print(f"Job {job} is {state}: {again}", markup=False)


def _for_people(found: list[Job]) -> pd.DataFrame:
    """What fits a screen; the other formats have all."""
    return pd.DataFrame(
        {
            "job": [job.id for job in found],
            "dataset": [job.dataset for job in found],
            "plan": [job.plan for job in found],
            "state": [job.state for job in found],
            "wanted": [job.wanted for job in found],
            "accepted": [job.accepted for job in found],
            "rejected": [job.rejected for job in found],
        }
    )


def _jobs_frame(found: list[Job]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (
                job.id,
                job.dataset,
                job.plan,
                job.state,
                job.wanted,
                job.accepted,
                job.rejected,
                job.queries["failed"],
                job.workers,
                job.created_at and job.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
            for job in found
        ],
        columns=[
            *("job", "dataset", "plan", "state", "wanted", "accepted", "rejected"),
            *("failed_queries", "workers", "created_at"),
        ],
    )


def _check_settings(values: dict[str, Any]) -> dict[str, Any]:
    try:
        from generation.job_settings import read_job_settings
    except ModuleNotFoundError as error:
        raise MissingExtraError("Ordering images", "worker") from error
    checked: dict[str, Any] = read_job_settings(values).model_dump(mode="json", exclude_unset=True)
    return checked | {"backend": values["backend"]}


def _usual_filters(backend: str) -> dict[str, Any]:
    from generation.job_settings import usual_filters

    return dict(usual_filters(backend))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            str(path), None, f"cannot be read ({error.strerror})", "Check the path."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), None, f"is no TOML ({error})", "Correct it.") from error


def _read_plan_file(path: Path) -> tuple[list[PlannedQuery], str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            str(path), None, f"cannot be read ({error.strerror})", "Check the path."
        ) from error
    plan = plan_from_json(content, file=str(path))
    return [(query.class_name, query.concepts, query.n) for query in plan.queries], plan.planner


def _assign(values: dict[str, Any], assignment: str) -> None:
    """Set a value by its path, such as ``making.steps=30``."""
    name, equals, text = assignment.partition("=")
    *path, last = name.strip().split(".")
    if not equals or not last or not all(path):
        raise OptionError(f"--set {assignment!r} is no NAME=VALUE, such as making.steps=30.")
    inner = values
    for part in path:
        found = inner.get(part)
        inner[part] = inner = found if isinstance(found, dict) else {}
    try:
        inner[last] = tomllib.loads(f"x = {text.strip()}")["x"]
    except tomllib.TOMLDecodeError:  # a word without quotes
        inner[last] = text.strip()


def _say(message: str) -> None:
    notes.print(message, markup=False)
