"""`cobalance evaluate`: train models on datasets, and score and compare their predictions."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from app.cli.commands.evaluated_images import artefact, cam
from app.cli.commands.score import score
from app.cli.common import (
    FormatOption,
    OutputOption,
    assignments_option,
    cleaned,
    note_limit,
    notes,
    opened_store,
    out,
)
from app.cli.evaluations import (
    BASELINE,
    EvaluationId,
    evaluations_of,
    options_of,
    predictions_folder,
    say_failures,
)
from app.cli.tables import Format, check_output, write_frame
from app.settings import Settings
from evaluation.reports.formats import REPORTS
from evaluation.training.data.sets import SETS
from evaluation.training.features import FEATURES
from evaluation.training.methods import METHODS
from evaluation.training.presets import PRESETS
from graph.errors import OptionError, needs_extra
from graph.evaluations.reading import read_evaluation
from graph.names import clean_name
from graph.plugins import is_installed
from ingest.concepts.plurals import counted

app = typer.Typer(
    help="Train models on datasets, and score, compare and export their predictions.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def _names(names: list[str] | None) -> list[str]:
    return [clean_name(name) for name in names or []]


@app.command()
def train(
    datasets: Annotated[
        list[str],
        typer.Argument(
            metavar="DATASET...",
            help="Datasets to train on, each by itself, such as one and what `cobalance rebalance` "
            "made of it.",
            callback=_names,
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"How to train: {', '.join(METHODS)}. Repeat it. Default: erm."),
    ] = None,
    preset: Annotated[
        str, typer.Option(help=f"Model and optimiser: {', '.join(PRESETS)}.")
    ] = "small",
    seed: Annotated[
        list[int] | None,
        typer.Option(help="A seed. Repeat it. Default: 0, 1, ..., as many as the preset has."),
    ] = None,
    training_set: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Which images of the datasets: {', '.join(SETS)}. Repeat it. Default: augmented, "
            "all of them."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="The dataset with the test images. Default: the one that was rebalanced.",
            callback=cleaned,
        ),
    ] = None,
    test_split: Annotated[
        str | None,
        typer.Option(help="Its split to test on. Default: test, if it has one.", callback=cleaned),
    ] = None,
    train_split: Annotated[
        str | None,
        typer.Option(help="The split to train on. Default: train, if any.", callback=cleaned),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            help="The dataset with images to select by. Default: the training dataset.",
            callback=cleaned,
        ),
    ] = None,
    validation_split: Annotated[
        str | None,
        typer.Option(
            help="Its split. Default: validation or val where the method or preset needs one, or "
            "else a share of the training images.",
            callback=cleaned,
        ),
    ] = None,
    shortcuts: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file of shortcuts, which make the groups; `none` for none. Default: the "
            "concepts of the original dataset that lean to a class."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help=f"Frozen features of the linear model: {', '.join(FEATURES)}."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        assignments_option(
            "--set", "Another option, such as learner.epochs=50 or method.refits=20."
        ),
    ] = None,
    equal_numbers: Annotated[
        bool,
        typer.Option(
            "--equal-numbers",
            help="Train on as many synthetic images of each dataset as the one with the fewest "
            "has.",
        ),
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Run them now, in this process, until they have ended.")
    ] = False,
) -> None:
    """Order evaluations: a model for each dataset, method and seed, tested on the same images.

    Workers train, predict and score them; --here runs them at once. Print their ids.
    """
    from app.services.evaluations.orders import EvaluationOrder, order_evaluations

    given = options_of(setting, ("learner", "method"))
    learner = dict(given["learner"])
    if features is not None:
        learner["features"] = features
    order = EvaluationOrder(
        train=tuple(dict.fromkeys(datasets)),
        training_sets=tuple(dict.fromkeys(training_set or ["augmented"])),
        methods=tuple(dict.fromkeys(method or ["erm"])),
        preset=preset,
        seeds=tuple(dict.fromkeys(seed)) if seed else None,
        test=test,
        train_split=train_split,
        test_split=test_split,
        validation=validation,
        validation_split=validation_split,
        shortcuts="none" if str(shortcuts) == "none" else shortcuts,
        learner_options=learner,
        method_options=given["method"],
        equal_numbers=equal_numbers,
    )
    if here:
        with needs_extra("Running evaluations", "worker"):
            from app.services.workers import run_here
    with opened_store() as (store, progress):
        ordered = order_evaluations(store, order)
        for one in ordered.ids:
            out.print(one, markup=False)
        if here:
            settings = Settings.from_environment()
            run_here(settings, ordered.ids, settings.queue_url(), progress)
            say_failures([read_evaluation(store, one) for one in ordered.ids])
    what = counted(len(ordered.ids), "evaluations")
    shown = f"cobalance evaluate show {quote(datasets[0])}"
    if here:
        notes.print(f"{what} ended. Next: {shown}", markup=False)
        return
    notes.print(f"{what} ordered. Run them: cobalance work --until-idle", markup=False)
    notes.print(f"Next: cobalance work --until-idle; then: {shown}", markup=False)
    for extra in ordered.extras:
        if not is_installed(extra):
            notes.print(
                f"They need cobalance[{extra}], which is not installed here; workers need it: "
                f'pip install "cobalance[worker,{extra}]"',
                markup=False,
            )


@app.command()
def predict(
    evaluation: EvaluationId,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", "-d", help="Predict this dataset's images instead.", callback=cleaned
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Its split.", callback=cleaned)] = None,
    format_: FormatOption = Format.CSV,
    output: OutputOption = None,
) -> None:
    """Write an evaluation's predictions; of another dataset, with its model trained again.

    A model is trained again from the same images and seed, or from its last checkpoint.
    """
    from app.services.evaluations.predictions import read_saved_predictions

    check_output(format_, output)
    settings = Settings.from_environment()
    with opened_store() as (store, progress):
        found = read_evaluation(store, evaluation)
        if dataset is None:
            if split is not None:
                raise OptionError("--split is of the dataset that --dataset names. Name one.")
            predictions = read_saved_predictions(predictions_folder(), found)
        else:
            with needs_extra("Predicting images", "evaluate"):
                from app.services.evaluations.runs import predict_dataset
            predictions = predict_dataset(
                store, settings, evaluation, dataset, split, progress=progress
            )
    write_frame(predictions, format_, output, out)


@app.command()
def show(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET|EVALUATION]",
            help="Only models trained or tested on this dataset, or on what a job made of it; or "
            "one evaluation. Default: all.",
            callback=cleaned,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric to show. Repeat it. Default: the most telling three."),
    ] = None,
    baseline: Annotated[str | None, BASELINE] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of evaluations.")] = 1000,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Show scores as means over seeds, before and after, and methods side by side.

    CSV, JSON and Parquet have a row for each metric and group.
    """
    from app.services.evaluations import summaries
    from evaluation.reports.tables import arrange

    with opened_store() as (store, _):
        found = evaluations_of(store, which, limit=limit)
        if not found:
            notes.print(
                "There is no evaluation. Order some: cobalance evaluate train DATASET", markup=False
            )
            return
        if baseline is not None:
            frame = summaries.differences_frame(predictions_folder(), found, baseline)
            if metric:
                frame = frame[frame["metric"].isin(metric)]
        else:
            frame = summaries.summary_frame(store, found)
    if baseline is None:
        metrics = metric or list(summaries.HEADLINE)
        if format_ is Format.TABLE:
            frame = arrange(frame, metrics)
        elif metric:
            frame = frame[frame["metric"].isin(metric)]
    if len(frame) or format_ is not Format.TABLE:
        write_frame(frame, format_, output, out)
    say_failures(found)
    if len(found) == limit:
        note_limit(limit)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET]",
            help="Only models trained or tested on this dataset, or on what a job made of it.",
            callback=cleaned,
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--as", help=f"The format: {', '.join(REPORTS)}. Default: by the file's suffix."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric to write. Repeat it. Default: all, or three.")
    ] = None,
    baseline: Annotated[str | None, BASELINE] = None,
    title: Annotated[str | None, typer.Option(help="The table's title.")] = None,
) -> None:
    """Write scores to a file: every score as CSV or Parquet, a table as LaTeX or HTML."""
    from app.services.evaluations.exports import export_evaluations

    with opened_store() as (store, _):
        rows = export_evaluations(
            store,
            None if baseline is None else predictions_folder(),
            evaluations_of(store, which),
            file,
            format_,
            metrics=metric or (),
            baseline=baseline,
            title=title or f"Evaluations{'' if which is None else f' of {which}'}",
        )
    out.print(f"{file}: {counted(rows, 'rows')}.", markup=False)


app.command()(score)
app.command()(artefact)
app.command()(cam)
