"""Shared by the commands of annotation runs: ids, the output folder, tables."""

from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from cobalance.app.cli.common import opened_store
from cobalance.app.cli.job_ids import SHORTEST_ID, id_that_begins
from cobalance.graph.annotations.runs import AnnotationRun, list_runs, read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import JobNotFoundError, needs_extra
from cobalance.workflows.settings import Settings

if TYPE_CHECKING:
    from cobalance.generation.output.folder import OutputFolder


def find_run(store: GraphStore, given: str) -> AnnotationRun:
    """Read an annotation run by its id, or by the first characters.

    Raises
    ------
    JobNotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    try:
        return read_run(store, given)
    except JobNotFoundError:
        if len(given) < SHORTEST_ID:
            raise
    runs = {run.id: run for run in list_runs(store)}
    missing = (
        f"There is no annotation run {given!r}. To list those there are: cobalance annotate runs"
    )
    return runs[id_that_begins(given, runs, "runs", missing)]


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


def output_folder() -> "OutputFolder":
    """The output folder of workers."""
    with needs_extra("Annotating", "worker"):
        from cobalance.generation.output.folder import OutputFolder
    return OutputFolder(Settings.from_environment().output_folder())


def runs_frame(runs: list[AnnotationRun]) -> pd.DataFrame:
    """Annotation runs as a table."""
    rows = [
        {
            "run": run.id,
            "dataset": run.dataset,
            "kind": run.kind,
            "model": run.model,
            "state": f"{run.state}, outdated" if run.outdated else run.state,
            "done": f"{run.done}/{run.chunks}" if run.chunks else "",
            "licence": run.licence or "",
            "created_at": f"{run.created_at:%Y-%m-%d %H:%M}Z" if run.created_at else "",
            "decided_by": run.decided_by,
            "error": run.error,
        }
        for run in runs
    ]
    columns = [
        *("run", "dataset", "kind", "model", "state", "done", "licence", "created_at"),
        *("decided_by", "error"),
    ]
    return pd.DataFrame(rows, columns=columns)
