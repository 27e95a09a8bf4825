"""Commands of `cobalance annotate` that decide what counts: attributes, and runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cobalance.annotation.labelling import labels, settings as label_settings
from cobalance.annotation.proposing import review as reviewing
from cobalance.app.cli.shared import (
    Assignments,
    DatasetName,
    Format,
    RunId,
    TableOutput,
    YesOption,
    assigned,
    clean_names,
    confirm,
    find_id,
    folders,
    note_changed,
    notes,
    opened_store,
    output_folder,
)
from cobalance.base import OptionError, inflect, pandas as pd
from cobalance.graph import ANNOTATION_RUN
from cobalance.graph.annotations import attributes as kept_attributes, runs as label_runs
from cobalance.graph.dataset import state as dataset_states
from cobalance.ingest import reader
from cobalance.workflows.label import decide


def review(
    to: TableOutput,
    dataset: DatasetName,
    sheet: Annotated[
        bool,
        "Write what is asked, to fill in elsewhere: all attributes, with columns to decide in.",
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE"),
        "Read this file: decisions in such a sheet, accept, reject, rename (with another name), or "
        "merge (with the other attribute in the column into).",
    ] = None,
    accept_all: Annotated[bool, "Accept all that are not decided, flagged ones too."] = False,
) -> None:
    """List the attributes that were proposed for a dataset, or decide on them.

    Only accepted ones are looked for in images, and become concepts. Reasons why a person should
    look at one are in the column flags.
    """
    if sum((sheet, from_ is not None, accept_all)) > 1:
        raise OptionError("Give one of --sheet, --from and --accept-all.")
    text = None if from_ is None else reader.read_text(from_)
    with opened_store() as (store, _):
        dataset_states.dataset_state(store, dataset)
        attributes = kept_attributes.list_attributes(store, dataset)
        if text is not None or accept_all:
            if text is None:
                decisions = reviewing.accept_all(attributes)
            else:
                decisions = reviewing.read_decisions(text, str(from_), attributes)
            kept_attributes.decide_attributes(store, dataset, decisions)
            _print_decided(dataset, [decision.state for decision in decisions])
            return

    frame = reviewing.review_frame(attributes)
    if sheet:
        from cobalance.ingest import guard_formulas

        to.write(guard_formulas(frame) if to.format is Format.CSV else frame)
        notes.print(
            f"{inflect(len(frame), 'attributes')} written. Fill in the column decision, then: "
            f"cobalance annotate review {dataset} --from {to.file or 'FILE'}"
        )
    elif not len(frame) and to.is_table:
        notes.print(
            f"No attributes were proposed for {dataset}: cobalance annotate propose CAPTION"
        )
    else:
        if to.is_table:
            # Without the columns to decide in, which are for a sheet.
            frame = frame[[*frame.columns[:1], *frame.columns[2:9]]]
        to.write(frame)


def _print_decided(dataset: str, states: list[str]) -> None:
    counts = [f"{states.count(state)} {state}" for state in ("accepted", "rejected", "merged")]
    notes.print(f"{inflect(len(states), 'attributes')} decided: {', '.join(counts)}.")
    notes.print(f"Look for them: cobalance annotate label {dataset}")


def runs(
    to: TableOutput,
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET|RUN]",
            help="Only this dataset's runs; or one run, with the images it finds each concept in.",
            callback=clean_names,
        ),
    ] = None,
) -> None:
    """List annotation runs, the newest first; of one, how many images show each concept."""
    with opened_store() as (store, _):
        if which is not None and dataset_states.find_dataset(store, which) is None:
            run = label_runs.read_run(store, find_id(store, which, ANNOTATION_RUN))
            if not run.has_labels:
                to.write(runs_frame([run]))
                return
            settings = label_settings.LabelSettings.read(run.settings)
            to.write(labels.label_summary(decide.open_scores(folders(), run.id), settings))
            return
        listed = label_runs.list_runs(store, which)

    if not listed and to.is_table:
        notes.print("There is no annotation run. Order one: cobalance annotate label DATASET")
    else:
        to.write(runs_frame(listed))


_RUN_COLUMNS = [
    "run",
    "dataset",
    "kind",
    "model",
    "state",
    "done",
    "licence",
    "created_at",
    "decided_by",
    "error",
]


def runs_frame(runs: "list[label_runs.AnnotationRun]") -> "pd.DataFrame":
    """Annotation runs as a table."""
    rows = []
    for run in runs:
        row = {
            "run": run.id,
            "dataset": run.dataset,
            "kind": run.kind,
            "model": run.model,
            "state": f"{run.state}, outdated" if run.outdated else run.state,
            "done": f"{run.done}/{run.chunks}" if run.chunks else "",
            "licence": run.licence or "",
            "created_at": run.created_at and f"{run.created_at:%Y-%m-%d %H:%M}Z",
            "decided_by": run.decided_by,
            "error": run.error,
        }
        rows.append(row)

    return pd.DataFrame(rows, columns=_RUN_COLUMNS)


def accept(run: RunId) -> None:
    """Add a run's labels to its dataset's concepts; its own annotations stay, and win."""
    _decide(run, "accepted")


def reject(run: RunId) -> None:
    """Remove a run's labels from its dataset."""
    _decide(run, "rejected")


def threshold(
    run: RunId,
    lowest: Annotated[
        float | None,
        typer.Argument(
            metavar="[SCORE]", help="Scores from this one on count as found, for all concepts."
        ),
    ] = None,
    setting: Annotated[
        Assignments, "An option of one concept: its threshold, such as sky=0.4. Repeat it."
    ] = None,
    multi: Annotated[
        bool | None,
        typer.Option("--multi/--best"),
        "Count every attribute that scores above the base caption, not the best alone.",
    ] = None,
) -> None:
    """Change the scores from which a run's labels count as found; no model runs again."""
    thresholds = assigned(setting)
    if not all(isinstance(value, int | float) for value in thresholds.values()):
        raise OptionError("--set takes a concept and a number, such as --set sky=0.4.")
    with opened_store() as (store, progress):
        report = decide.change_thresholds(
            store,
            output_folder(),
            run,
            threshold=lowest,
            thresholds={name: float(value) for name, value in thresholds.items()},
            multi=multi,
            progress=progress,
        )
        dataset = label_runs.read_run(store, run).dataset

    # Only an accepted run has labels among the concepts.
    if report is None:
        notes.print("Changed. The run counts for nothing so far: cobalance annotate accept RUN")
    else:
        note_changed(report, dataset)


def delete(run: RunId, yes: YesOption = False) -> None:
    """Delete a run that is not accepted, with its files, and its audits with all answers."""
    folder = output_folder()
    with opened_store() as (store, _):
        stored = label_runs.read_run(store, run)
        # An accepted run is refused below, so that nobody is asked.
        if not yes and stored.state != "accepted":
            what = f"the run {run} of {stored.dataset}, with its files"
            confirm(f"Delete {what}, and its audits with all answers?")
        decide.delete_annotations(store, folder, run)


def _decide(run: str, state: Literal["accepted", "rejected"]) -> None:
    with opened_store() as (store, progress):
        report = decide.decide_labels(store, output_folder(), run, state, progress=progress)
        dataset = label_runs.read_run(store, run).dataset
    note_changed(report, dataset)
