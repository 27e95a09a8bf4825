"""`cobalance enqueue`: create a job that makes a plan's images."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared import (
    Assignments,
    DatasetName,
    Name,
    SettingsFile,
    TableOutput,
    folders,
    notes,
    opened_store,
    out,
    read_file,
    read_settings,
)
from cobalance.base import (
    OptionError,
    inflect,
    install_command,
    options as plugin_options,
    plugins,
    records,
)
from cobalance.generation import backends, filters, recipes
from cobalance.generation.jobs import settings as job_settings
from cobalance.generation.planning import plan_file as plan_files
from cobalance.graph.jobs import status as jobs
from cobalance.workflows.order import job as job_orders, settings as order_settings
from cobalance.workflows.work import tables as work_tables


def enqueue(
    to: TableOutput,
    dataset: DatasetName,
    plan: Annotated[
        Name,
        "A plan of the dataset. Default: the usual planner's, or the recipe's own where it edits "
        "images.",
    ] = None,
    plan_file: Annotated[
        Path | None, "A file from `cobalance plan --format json`, in place of --plan."
    ] = None,
    recipe: Annotated[
        str | None,
        f"The recipe: {', '.join(recipes.RECIPES)}. Default: {recipes.DEFAULT}.",
    ] = None,
    backend: Annotated[
        str | None,
        f"Another backend than the recipe's: {', '.join(backends.BACKENDS)}. "
        "Without a recipe, the one of its name.",
    ] = None,
    model: Annotated[
        str | None, "The model: a folder, or owner/name on the hub. Default: the backend's own."
    ] = None,
    quality: Annotated[
        str | None,
        "In place of --model and --preset: fast, balanced or faithful. The first two take a "
        "current model that fits this machine's GPU, and 20 steps of the usual one without; "
        "faithful takes the papers' model.",
    ] = None,
    preset: Annotated[
        str | None, "A set of settings: faithful to the paper, or fast. Default: faithful."
    ] = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option("--filter"),
        f"A filter that judges them: {', '.join(filters.FILTERS)}. Repeat it; `none` for none.",
    ] = None,
    setting: Annotated[
        Assignments,
        "An option of the job, such as making.steps=30, masks.object=person or "
        "filters.clip.threshold=0.65. Repeat it.",
    ] = None,
    consent: Annotated[
        str | None,
        typer.Option(metavar="BASIS"),
        "The basis on which people are painted, in your words; kept with the job, its manifest and "
        "the dataset. Asked for where a recipe paints people.",
    ] = None,
    alters_real_people: Annotated[
        bool, "Confirm that a part of real people stays in images that show them as somebody else."
    ] = False,
    without_images: Annotated[
        bool,
        "Order even though no file of the images to take objects from is found here, "
        "as workers elsewhere have them, or the recipe can do without.",
    ] = False,
    pilot: Annotated[
        bool | None,
        typer.Option("--pilot/--no-pilot", show_default=False),
        "Make some images of each query first, and hold back queries that will not be had. "
        "Default: where more than 200 images are wanted.",
    ] = None,
    settings: SettingsFile = None,
) -> None:
    """Create a job that makes a plan's images; workers run it."""
    if plan is not None and plan_file is not None:
        raise OptionError("--plan and --plan-file exclude each other; give one of them.")

    chosen: dict[str, str | bool | None] = {
        "recipe": recipe,
        "backend": backend,
        "quality": quality,
        "consent": consent,
        "pilot": pilot,
    }
    # A flag that is not given leaves the file's setting as it is.
    if alters_real_people:
        chosen["alters_real_people"] = True
    if without_images:
        chosen["without_images"] = True
    making = {"model": model, "preset": preset}
    checked = read_settings(settings, chosen, making, filter_ or (), setting or ())

    queries: Sequence[records.PlannedQuery]
    planned: Mapping[str, Any]
    with opened_store() as (store, progress):
        if plan_file is None:
            name, queries, planned = job_orders.read_order(store, dataset, checked["recipe"], plan)
        else:
            read = plan_files.plan_from_json(read_file(plan_file), file=str(plan_file))
            queries, name, planned = read.queries, read.planner, read.planner_options

        known_jobs = jobs.list_jobs(store, dataset)
        same = [known.id for known in known_jobs if known.is_active and known.plan == name]
        job = job_orders.order_plan(
            store,
            dataset,
            name,
            queries,
            checked,
            progress,
            places=folders().image_roots(dataset),
            planned=planned,
        )
        created = jobs.read_job(store, job)

    if to.is_shown:
        out.print(job)
    else:
        to.write(work_tables.jobs_frame([created]))

    ordered = job_settings.read_job_settings(checked)
    notes.print(_describe_order(created, len(queries), ordered))
    if same:
        notes.print(
            f"Job {same[0]} makes this plan, too. To end it: cobalance jobs cancel {same[0]}"
        )
    for warning in _warnings(ordered):
        notes.print(warning)


def _describe_order(job: "jobs.Job", n_queries: int, ordered: "job_settings.JobSettings") -> str:
    """Say what a new job makes and how, and the next command."""
    next_command = "cobalance work --until-idle"
    # A recipe with a plan of its own edits images, which come to the dataset by `rebalance`.
    if recipes.RECIPES[ordered.recipe].plan is not None:
        next_command += f"; then: cobalance rebalance {job.id}"

    model = ordered.making.get("model")
    with_model = f" with {model}" if model else ""
    return (
        f"Job {job.id}: {inflect(job.wanted, 'images')} in {inflect(n_queries, 'queries')}, by the "
        f"recipe {ordered.recipe}{with_model}. Next: {next_command}"
    )


def _warnings(ordered: "job_settings.JobSettings") -> Iterator[str]:
    """Warn of models that are not here, of licences, and of an extra that workers need."""
    for option in plugin_options.path_options(backends.BACKENDS[ordered.backend].options):
        path = ordered.making.get(option)
        if path is not None and order_settings.is_path(path) and not Path(path).is_dir():
            yield f"There is no folder {path} on this machine; workers need it."

    yield from order_settings.licence_warnings(ordered)

    if not plugins.is_installed(ordered.extra):
        yield (
            f"This job needs the extra {ordered.extra}, which is not installed here; workers need "
            f"it: {install_command(ordered.extra)}"
        )
