"""`cobalance evaluate score`: score anybody's predictions."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobalance.app.cli.evaluate.options import files_of, options_of
from cobalance.app.cli.shared.declared import listed
from cobalance.app.cli.shared.options import Assignments, DatasetOption
from cobalance.app.cli.shared.stores import folders, opened_store, output_folder
from cobalance.app.cli.shared.tables import TableOutput
from cobalance.app.cli.shared.terminal import notes
from cobalance.base.errors import OptionError
from cobalance.base.plurals import inflect
from cobalance.evaluation import metrics as metric_kinds
from cobalance.evaluation.training.data import images as labelled
from cobalance.workflows.evaluate import (
    image_sets,
    images as evaluated_images,
    score as scoring,
    tables,
)

if TYPE_CHECKING:
    from cobalance.evaluation.metrics.metric import Inputs, Scored

Dataset = Annotated[
    DatasetOption, "The dataset of the graph that has the images, and their groups."
]
Shortcuts = Annotated[
    Path | None,
    "A TOML file of shortcuts, with --dataset. Default: its concepts that lean to a class.",
]
Table = Annotated[
    Path | None, "A table of figures, such as a paper's, in the metric's own columns."
]
Images = Annotated[
    str | None,
    typer.Option(metavar="PLACE"),
    "Images to score: a folder, an export or a dataset; of the last two the synthetic ones, where "
    "there are any.",
]
Features = Annotated[
    str | None,
    f"Image features: {listed('evaluation.training.features.FEATURES')}. Default: "
    "inception for frechet and kernel, clip_336 for cmmd.",
]
Setting = Annotated[
    Assignments,
    "An option of a metric, such as group_accuracy.confidence=0.9, or of the features, such as "
    "features.weights=FILE. Repeat it.",
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
        f"A metric: {listed('evaluation.metrics.METRICS')}. Repeat it. Default: all that "
        "what is given suffices for.",
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option("--group-table"),
        "A table with image, and for each shortcut a column of common, uncommon or none, or any "
        "other attribute of the images.",
    ] = None,
    dataset: Dataset = None,
    shortcuts: Shortcuts = None,
    training: Annotated[
        Path | None, "A table of the training images: class_name and the columns of groups."
    ] = None,
    table: Table = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=FILE"),
        "Another table: edited (predictions after an edit), captions, references, embeddings, "
        "real_embeddings, texts, attributes, real_attributes, objects. Repeat it.",
    ] = None,
    images: Images = None,
    real_images: Annotated[
        str | None,
        typer.Option(metavar="PLACE"),
        "The real images of such a place, to compare images with.",
    ] = None,
    features: Features = None,
    setting: Setting = None,
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
    given = {"predictions": predictions, "groups": groups, "training": training, "table": table}
    files = {name: path for name, path in given.items() if path is not None}
    given_options = options_of(setting, (*metric_kinds.METRICS, "features"))
    of_features = given_options.pop("features")
    options = {name: own for name, own in given_options.items() if own}
    compared: dict[str, object] = {"--real-images": real_images, "--features": features}
    compared["--set features"] = of_features
    if images is not None:
        compared |= {f"--metric {one}": one in image_sets.FEATURES_OF for one in metric or ()}
    for flag, value in compared.items():
        if value and (real_images is None or images is None):
            raise OptionError(f"{flag} compares --images with --real-images. Give both.")
    tables_given = {**files, **files_of(other, "--with")}
    inputs = tables.read_tables(tables_given, seed, images=images is not None)
    if baseline is not None and Path(baseline).is_file():
        inputs, baseline = tables.with_baseline(inputs, Path(baseline))
    if images is not None:
        inputs, others = image_sets.with_images(inputs, images, real_images, _read_dataset)
        if others is not None:
            metrics = [*(metric or ()), *options]
            inputs = image_sets.with_features(inputs, others, metrics, features, of_features)
    if dataset is None:
        if save or shortcuts is not None:
            flag = "--save" if save else "--shortcuts"
            raise OptionError(f"{flag} is of a dataset of the graph. Name it with --dataset.")
        scored = _scored(inputs, metric, options)
    else:
        if groups is not None:
            raise OptionError("--group-table and --dataset exclude each other; give one of them.")
        with opened_store() as (store, _):
            inputs, chosen = tables.with_dataset(store, dataset, shortcuts, inputs)
            scored = _scored(inputs, metric, options)
            if save:
                kept = tables.keep_scores(
                    store, output_folder(), dataset, inputs, scored.frame, chosen
                )
                notes.print(
                    f"Kept as {inflect(len(kept), 'evaluations')}: {', '.join(kept)}\n"
                    f"Next: cobalance evaluate show {kept[0]}"
                )
    _write(to, inputs, scored, baseline, seed)


def _read_dataset(name: str) -> "labelled.LabelledImages":
    with opened_store() as (store, progress):
        return evaluated_images.dataset_reader(store, folders(), progress, {})(name)


def _scored(inputs: "Inputs", metric: list[str] | None, options: dict[str, Any]) -> "Scored":
    """Scores; warnings of metrics become notes."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        scored = scoring.score_tables(inputs, metric or (), options)
    for text in dict.fromkeys(str(one.message) for one in said):
        notes.print(text)
    return scored


def _write(
    to: TableOutput, inputs: "Inputs", scored: "Scored", baseline: str | None, seed: int
) -> None:
    """Write scores, or differences from a baseline, and say which metrics were left out."""
    import numpy as np

    from cobalance.evaluation.metrics import comparison

    frame = scored.frame
    if baseline is not None and (
        inputs.predictions is None or not comparison.is_paired(inputs.predictions)
    ):
        frame = comparison.compare_scores(frame, baseline)
        notes.print(
            "Rows stand for several images, so that intervals take methods as tested on different "
            "ones (Newcombe)."
        )
    elif baseline is not None:
        frame = comparison.compare_methods(
            inputs.need("predictions"),
            inputs.groups,
            baseline,
            np.random.default_rng(seed),
            training=inputs.training,
        )
        if not scored.left_out:  # metrics are named, or all of them are there
            frame = frame[frame["metric"].isin(scored.frame["metric"])]
        if frame.empty:
            raise OptionError("--baseline compares accuracies alone. Leave --metric out.")
    elif to.is_table:
        idle = [name for name in ("method", "seed") if frame[name].nunique() <= 1]
        frame = frame.drop(columns=idle)
    to.write(frame)
    if baseline is None:
        for name, reason in scored.left_out.items():
            notes.print(f"{name} is left out: {reason}")
