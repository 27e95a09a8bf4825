"""Ids of jobs, tasks, runs and evaluations as arguments: the first characters do."""

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from cobalance.app.cli.shared.options import ALL_JOBS, opened_store
from cobalance.graph.annotations.runs import AnnotationRun, list_runs, read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import NotFoundError, OptionError
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations, read_evaluation
from cobalance.graph.jobs.status import list_jobs, read_job
from cobalance.graph.tasks.status import list_tasks, read_task

SHORTEST_ID = 4  # characters


def id_that_begins(given: str, ids: Iterable[str], kinds: str, kind: str, listing: str) -> str:
    """The one id that begins with what was given.

    Parameters
    ----------
    kinds : str
        What they are ids of, in the plural.
    kind : str
        What the message names where there is none.
    listing : str
        The command that lists them.

    Raises
    ------
    NotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    found = [one for one in ids if one.startswith(given)]
    if len(found) > 1:
        raise OptionError(
            f"Several {kinds} begin with {given!r}: {', '.join(found)}. Give one of them."
        )
    if not found:
        raise NotFoundError(
            kind,
            given,
            "It may have been dropped with its dataset. To list those there are: ",
            listing,
        )
    return found[0]


def _completed(context: typer.Context, given: str | None, *, tasks: bool) -> str | None:
    """The full id of a job, or of a task, too, from its first characters.

    Raises
    ------
    NotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    if given is None or len(given) < SHORTEST_ID or context.resilient_parsing:
        return given
    with opened_store() as (store, _):
        exact: list[Callable[[GraphStore, str], object]] = [read_job, *([read_task] * tasks)]
        if any(_exists(read, store, given) for read in exact):
            return given
        ids = [job.id for job in list_jobs(store, None, limit=ALL_JOBS)]
        kinds = "jobs"
        if tasks:
            of_tasks = [task.id for task in list_tasks(store, limit=ALL_JOBS)]
            if any(one.startswith(given) for one in of_tasks):
                ids, kinds = ids + of_tasks, "jobs or tasks"
    return id_that_begins(given, ids, kinds, "job", "cobalance jobs")


def _exists(read: Callable[[GraphStore, str], object], store: GraphStore, name: str) -> bool:
    try:
        read(store, name)
    except NotFoundError:
        return False
    return True


def _full_id(context: typer.Context, given: str | None) -> str | None:
    return _completed(context, given, tasks=False)


def full_work_id(context: typer.Context, given: str | None) -> str | None:
    """The full id of a job or a task, from its first characters.

    Raises
    ------
    NotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    return _completed(context, given, tasks=True)


JobId = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help=f"A job's id, or its first {SHORTEST_ID} characters or more; see `cobalance jobs`.",
        callback=_full_id,
    ),
]
WorkId = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help=f"Id of a job or a task, such as an evaluation, or its first {SHORTEST_ID} characters "
        "or more; see `cobalance jobs`.",
        callback=full_work_id,
    ),
]


def find_run(store: GraphStore, given: str) -> AnnotationRun:
    """Read an annotation run by its id, or by the first characters.

    Raises
    ------
    NotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    try:
        return read_run(store, given)
    except NotFoundError:
        if len(given) < SHORTEST_ID:
            raise
    runs = {run.id: run for run in list_runs(store)}
    listing = "cobalance annotate runs"
    return runs[id_that_begins(given, runs, "runs", "annotation run", listing)]


def run_id(context: typer.Context, given: str) -> str:
    """The whole id of a run of which the first characters are given."""
    if context.resilient_parsing:
        return given
    with opened_store() as (store, _):
        return find_run(store, given).id


RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help=f"An annotation run's id, or its first {SHORTEST_ID} characters or more; see "
        "`cobalance annotate runs`.",
        callback=run_id,
    ),
]


def evaluation_id(context: typer.Context, given: str | None) -> str | None:
    """The whole id of an evaluation of which the first characters are given; None for None."""
    if context.resilient_parsing or given is None:
        return given
    with opened_store() as (store, _):
        return find_evaluation(store, given).id


EvaluationId = Annotated[
    str,
    typer.Argument(
        metavar="EVALUATION",
        help=f"An evaluation's id, or its first {SHORTEST_ID} characters or more; see `cobalance "
        "jobs --tasks`.",
        callback=evaluation_id,
    ),
]


def _evaluation_ids(context: typer.Context, given: list[str]) -> list[str]:
    if context.resilient_parsing:
        return given
    with opened_store() as (store, _):
        return list(dict.fromkeys(find_evaluation(store, one).id for one in given))


EvaluationIds = Annotated[
    list[str],
    typer.Argument(
        metavar="EVALUATION...",
        help=f"Ids of evaluations, or their first {SHORTEST_ID} characters or more.",
        callback=_evaluation_ids,
    ),
]


def find_evaluation(store: GraphStore, given: str) -> Evaluation:
    """Read an evaluation by its id, or by the first characters.

    Raises
    ------
    NotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    try:
        return read_evaluation(store, given)
    except NotFoundError:
        if len(given) < SHORTEST_ID:
            raise
    everything = {one.id: one for one in list_evaluations(store, limit=ALL_JOBS)}
    listing = "cobalance jobs --tasks"
    return everything[id_that_begins(given, everything, "evaluations", "evaluation", listing)]
