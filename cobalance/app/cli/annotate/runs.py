"""`cobalance annotate runs`: list annotation runs, or show what one has found."""

from typing import Annotated

import pandas as pd
import typer

from cobalance.app.cli.shared.ids import find_run
from cobalance.app.cli.shared.options import (
    FormatOption,
    OutputOption,
    cleaned,
    notes,
    opened_store,
    out,
    output_folder,
)
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.graph.annotations.runs import AnnotationRun, list_runs
from cobalance.graph.dataset.state import find_dataset


def runs(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET|RUN]",
            help="Only this dataset's runs; or one run, with the images it finds each concept in.",
            callback=cleaned,
        ),
    ] = None,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List annotation runs, the newest first; of one, how many images show each concept."""
    check_output(format_, output)
    with opened_store() as (store, _):
        if which is not None and find_dataset(store, which) is None:
            run = find_run(store, which)
            if run.kind != "propose" and run.state in ("done", "accepted", "rejected"):
                from cobalance.annotation.labelling.labels import label_summary
                from cobalance.annotation.labelling.score_files import ScoreFiles
                from cobalance.annotation.labelling.settings import LabelSettings

                settings = LabelSettings.read(run.settings)
                found = label_summary(ScoreFiles(output_folder(), run.id), settings)
                write_frame(found, format_, output, out)
                return
            write_frame(runs_frame([run]), format_, output, out)
            return
        listed = list_runs(store, which)
    if not listed and format_ is Format.TABLE:
        notes.print("There is no annotation run. Order one: cobalance annotate label DATASET")
        return
    write_frame(runs_frame(listed), format_, output, out)


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
