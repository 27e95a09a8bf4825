"""`cobalance evaluate score`: score anybody's predictions."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobalance.app.cli.evaluate.options import files_of, options_of
from cobalance.app.cli.shared import (
    Assignments,
    DatasetOption,
    TableOutput,
    folders,
    notes,
    opened_store,
    output_folder,
)
from cobalance.base import OptionError, inflect, pandas as pd
from cobalance.evaluation import FEATURES, metrics as metric_kinds
from cobalance.evaluation.training.data import images as labelled
from cobalance.workflows.evaluate import (
    image_sets,
    images as evaluated_images,
    score as scoring,
    tables,
)

if TYPE_CHECKING:
    from cobalance.evaluation import Inputs, Scored

# Some tables have an option of their own.
_OTHERS = [
    name
    for name in metric_kinds.TABLES
    if name not in ("predictions", "groups", "training", "table")
]


def score(
    to: TableOutput,
    predictions: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PREDICTIONS]",
            help="CSV or Parquet: image, class_name, and predicted or p_<class>; of several "
            "runs method and seed, too; of a confusion table n. Or COCO's JSON of a detector's "
            "results, with --with objects=FILE. Not needed by metrics of other tables.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        f"A metric: {', '.join(metric_kinds.METRICS)}. Repeat it. Default: all that "
        "what is given suffices for.",
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option("--group-table"),
        "A table with image, and for each shortcut a column of common, uncommon or none, or any "
        "other attribute of the images.",
    ] = None,
    dataset: Annotated[
        DatasetOption, "The dataset of the graph that has the images, and their groups."
    ] = None,
    shortcuts: Annotated[
        Path | None,
        "A TOML file of shortcuts, with --dataset. Default: its concepts that lean to a class.",
    ] = None,
    training: Annotated[
        Path | None, "A table of the training images: class_name and the columns of groups."
    ] = None,
    table: Annotated[
        Path | None, "A table of figures, such as a paper's, in the metric's own columns."
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=FILE"),
        f"Another table: {', '.join(_OTHERS)}. Repeat it.",
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(metavar="PLACE"),
        "Images to score: a folder, an export or a dataset; of the last two the synthetic ones, "
        "where there are any.",
    ] = None,
    real_images: Annotated[
        str | None,
        typer.Option(metavar="PLACE"),
        "The real images of such a place, to compare images with.",
    ] = None,
    features: Annotated[
        str | None,
        f"Image features: {', '.join(FEATURES)}. Default: "
        "inception for frechet and kernel, clip_336 for cmmd.",
    ] = None,
    setting: Annotated[
        Assignments,
        "An option of a metric, such as group_accuracy.confidence=0.9, or of the features, such as "
        "features.weights=FILE. Repeat it.",
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed, of metrics.")] = 0,
    baseline: Annotated[
        str | None,
        "Show how far every other method differs from this one: by a paired bootstrap "
        "over seeds and images, of tables of counts by unpaired intervals. A method, or a "
        "table of its predictions.",
    ] = None,
    save: Annotated[bool, "With --dataset, keep predictions and scores in the graph."] = False,
) -> None:
    """Score anybody's predictions by groups from a table, or from a dataset's shortcuts.

    Without --dataset no database is needed.
    """
    options = options_of(setting, (*metric_kinds.METRICS, "features"))
    feature_options = options.pop("features")
    metric_options = {name: values for name, values in options.items() if values}
    _check_pictures(metric, features, feature_options, images, real_images)

    named = {"predictions": predictions, "groups": groups, "training": training, "table": table}
    files = {name: path for name, path in named.items() if path is not None}
    files |= files_of(other, "--with")

    inputs = tables.read_tables(files, seed, images=images is not None)
    if baseline is not None and Path(baseline).is_file():
        inputs, baseline = tables.with_baseline(inputs, Path(baseline))
    if images is not None:
        inputs, others = image_sets.with_images(inputs, images, real_images, _read_dataset)
        if others is not None:
            metrics = [*(metric or ()), *metric_options]
            inputs = image_sets.with_features(inputs, others, metrics, features, feature_options)

    if dataset is None:
        if save or shortcuts is not None:
            flag = "--save" if save else "--shortcuts"
            raise OptionError(f"{flag} is of a dataset of the graph. Name it with --dataset.")
        scored = _scored(inputs, metric, metric_options)
    else:
        if groups is not None:
            raise OptionError("--group-table and --dataset exclude each other; give one of them.")
        with opened_store() as (store, _):
            inputs, chosen = tables.with_dataset(store, dataset, shortcuts, inputs)
            scored = _scored(inputs, metric, metric_options)
            if save:
                ids = tables.keep_scores(
                    store, output_folder(), dataset, inputs, scored.frame, chosen
                )
                notes.print(
                    f"Kept as {inflect(len(ids), 'evaluations')}: {', '.join(ids)}\n"
                    f"Next: cobalance evaluate show {ids[0]}"
                )
    _write(to, inputs, scored, baseline, seed)


def _check_pictures(
    metric: list[str] | None,
    features: str | None,
    feature_options: dict[str, Any],
    images: str | None,
    real_images: str | None,
) -> None:
    """Raise OptionError where an option compares images, and one of the two sets is not named."""
    if real_images is not None and images is not None:
        return
    flags: dict[str, object] = {
        "--real-images": real_images,
        "--features": features,
        "--set features": feature_options,
    }
    # Without images at all, such a metric takes embeddings from a table.
    if images is not None:
        flags |= {f"--metric {name}": name in image_sets.FEATURES_OF for name in metric or ()}

    for flag, is_used in flags.items():
        if is_used:
            raise OptionError(f"{flag} compares --images with --real-images. Give both.")


def _read_dataset(name: str) -> "labelled.LabelledImages":
    with opened_store() as (store, progress):
        return evaluated_images.dataset_reader(store, folders(), progress, {})(name)


def _scored(inputs: "Inputs", metric: list[str] | None, options: dict[str, Any]) -> "Scored":
    """Scores; warnings of metrics become notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        scored = scoring.score_tables(inputs, metric or (), options)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.print(text)
    return scored


def _write(
    to: TableOutput,
    inputs: "Inputs",
    scored: "Scored",
    baseline: str | None,
    seed: int,
) -> None:
    """Write scores, or differences from a baseline, and say which metrics were left out."""
    frame = scored.frame
    if baseline is not None:
        frame = _differences(inputs, scored, baseline, seed)
    elif to.is_table:
        # Columns that say the same in every row are left out for people.
        idle = [name for name in ("method", "seed") if frame[name].nunique() <= 1]
        frame = frame.drop(columns=idle)
    to.write(frame)

    if baseline is None:
        for name, reason in scored.left_out.items():
            notes.print(f"{name} is left out: {reason}")


def _differences(inputs: "Inputs", scored: "Scored", baseline: str, seed: int) -> "pd.DataFrame":
    """How far every other method differs from a baseline."""
    import numpy as np

    from cobalance.evaluation.metrics import comparison

    predictions = inputs.get("predictions")
    if predictions is None or not comparison.is_paired(predictions):
        notes.print(
            "Rows stand for several images, so that intervals take methods as tested on different "
            "ones (Newcombe)."
        )
        return comparison.compare_scores(scored.frame, baseline)

    frame = comparison.compare_methods(
        predictions,
        inputs.get("groups"),
        baseline,
        np.random.default_rng(seed),
        training=inputs.get("training"),
    )
    # Nothing is left out where metrics are named, or where the tables suffice for all.
    if not scored.left_out:
        frame = frame[frame["metric"].isin(scored.frame["metric"])]
    if frame.empty:
        raise OptionError("--baseline compares accuracies alone. Leave --metric out.")
    return frame
