"""`cobalance evaluate predict`, `show`, `export` and `delete`: results of evaluations."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobalance.app.cli.evaluate.options import BASELINE_HELP, evaluations_of, say_failures
from cobalance.app.cli.shared import (
    DatasetOption,
    EvaluationId,
    EvaluationIds,
    Format,
    FormatOption,
    Name,
    OutputOption,
    TableOutput,
    YesOption,
    clean_names,
    confirm,
    folders,
    note_limit,
    notes,
    opened_store,
    out,
    output_folder,
    read_environment,
)
from cobalance.base import OptionError, inflect, needs_extra
from cobalance.evaluation import reports
from cobalance.graph.evaluations import reading
from cobalance.workflows.evaluate import results, stored

if TYPE_CHECKING:
    import pandas as pd


def predict(
    evaluation: EvaluationId,
    dataset: Annotated[DatasetOption, "The dataset whose images are predicted instead."] = None,
    split: Annotated[Name, "Only images of this split."] = None,
    format_: FormatOption = Format.CSV,
    output: OutputOption = None,
) -> None:
    """Write an evaluation's predictions; of another dataset, with its model trained again.

    A model is trained again from the same images and seed, or from its last checkpoint.
    """
    settings = read_environment()
    with opened_store() as (store, progress):
        ordered = reading.read_evaluation(store, evaluation)
        if dataset is None:
            if split is not None:
                raise OptionError("--split is of the dataset that --dataset names. Name one.")
            predictions = stored.read_saved_predictions(output_folder(), ordered)
        else:
            with needs_extra("Predicting images", "evaluate"):
                from cobalance.workflows import predict_dataset
            predictions = predict_dataset(
                store, settings.folders(), evaluation, dataset, split, progress=progress
            )

    TableOutput(format_, output).write(predictions)


def show(
    to: TableOutput,
    dataset_or_evaluation: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET|EVALUATION]",
            help="Only models trained or tested on this dataset, or on what a job made of it; or "
            "one evaluation. Default: all.",
            callback=clean_names,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, "A metric: one to show. Repeat it. Default: the most telling three."
    ] = None,
    baseline: Annotated[str | None, BASELINE_HELP] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows, of evaluations.")
    ] = 1000,
) -> None:
    """Show scores as means over seeds, before and after, and methods side by side.

    CSV, JSON and Parquet have a row for each metric and group.
    """
    with opened_store() as (store, _):
        evaluations = evaluations_of(store, dataset_or_evaluation, limit=limit)
        if not evaluations and to.is_table:
            notes.print("There is no evaluation. Order some: cobalance evaluate train DATASET")
            return
        if baseline is None:
            frame = results.summary_frame(store, evaluations)
        else:
            frame = results.differences_frame(output_folder(), evaluations, baseline)
            left_out = ", ".join(_left_out_methods(evaluations, frame))
            if left_out:
                notes.print(f"Left out, without {baseline} of the same settings: {left_out}")

    if baseline is None and to.is_table:
        frame = reports.arrange(frame, metric or results.HEADLINE)
    elif metric:
        frame = frame[frame["metric"].isin(metric)]

    if len(frame) or not to.is_table:
        to.write(frame)
    say_failures(evaluations)
    if len(evaluations) == limit:
        note_limit(limit)


def _left_out_methods(
    evaluations: "Sequence[reading.Evaluation]", differences: "pd.DataFrame"
) -> list[str]:
    """Names of the rows that have no differences from the baseline, sorted."""
    names = set(results.name_rows(results.newest(evaluations)).values())
    return sorted(names.difference(differences["method"], differences["baseline"]))


def export(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET]",
            help="Only models trained or tested on this dataset, or on what a job made of it.",
            callback=clean_names,
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--as"),
        f"The format: {', '.join(reports.REPORTS)}. Default: by the file's suffix.",
    ] = None,
    metric: Annotated[
        list[str] | None, "A metric: one to write. Repeat it. Default: all, or three."
    ] = None,
    baseline: Annotated[str | None, BASELINE_HELP] = None,
    title: Annotated[str | None, "The table's title."] = None,
) -> None:
    """Write scores to a file: every score as CSV or Parquet, a table as LaTeX or HTML."""
    usual_title = "Evaluations" if dataset is None else f"Evaluations of {dataset}"
    with opened_store() as (store, _):
        rows = results.export_evaluations(
            store,
            # Differences from a baseline are computed from the kept predictions.
            None if baseline is None else output_folder(),
            evaluations_of(store, dataset),
            file,
            format_,
            metrics=metric or (),
            baseline=baseline,
            title=title or usual_title,
        )

    out.print(f"{file}: {inflect(rows, 'rows')}.")


def delete(evaluations: EvaluationIds, yes: YesOption = False) -> None:
    """Delete evaluations with their scores, predictions, activation maps and checkpoints."""
    what = inflect(len(evaluations), "evaluations")
    if not yes:
        confirm(f"Delete {what} with scores, predictions and checkpoints?")
    with opened_store() as (store, _):
        stored.delete_evaluations(store, folders(), output_folder(), evaluations)
    notes.print(f"Deleted {what}.")
