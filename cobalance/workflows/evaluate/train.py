"""Run an evaluation: train, predict, score, and keep the results."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import CobalanceError, Progress, log_run, positions_of, silent, values_at
from cobalance.evaluation import (
    COLUMNS,
    METHODS,
    METRICS,
    Captioner,
    Examples,
    Inputs,
    Model,
    Pixels,
    Run,
    Scored,
    TextModel,
    caption_cosines,
    check_predictions,
    clip_score,
    profile_folder,
    profile_groups,
    score_fitting,
    stack,
)
from cobalance.evaluation.training.run import kept_model, predict, train_run
from cobalance.generation.worker.resources import AskGraph
from cobalance.graph import (
    Evaluation,
    GraphStore,
    begin_evaluation,
    read_evaluation,
    save_predictions_uri,
    save_scores,
)
from cobalance.ingest import load_group_words
from cobalance.workflows.evaluate.images import (
    EvaluationImages,
    KnownDatasets,
    dataset_reader,
    evaluation_images,
)
from cobalance.workflows.evaluate.score import with_clusters, with_groups
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import checkpoints_folder, write_predictions
from cobalance.workflows.folders import Folders

OF_PREDICTIONS = (
    "accuracy",
    "balanced_accuracy",
    "out_of_distribution",
    "worst_group",
    "group_accuracy",
    "shortcut_gaps",
    "mean_average_precision",
)
"""Metrics of the predictions of each evaluation, where they apply."""


@dataclass(frozen=True, eq=False)
class TrainedEvaluation:
    """An evaluation's model, with the images that it was trained and tested on."""

    evaluation: Evaluation
    settings: RunSettings
    images: EvaluationImages
    model: Model | Captioner
    predictions: pd.DataFrame


@log_run
def run_evaluation(
    graph: AskGraph,
    folders: Folders,
    evaluation: str,
    progress: Progress,
    known: KnownDatasets | None = None,
) -> str:
    """Train, predict and score, and save both; return notes for people.

    Parameters
    ----------
    known : dict, optional
        Datasets that were read for other evaluations; those read for this one are added.

    Raises
    ------
    CobalanceError
        Its datasets, settings or images cannot be used; the message says why.
    """
    graph(lambda store: begin_evaluation(store, evaluation))
    run = graph(lambda store: read_evaluation(store, evaluation))
    trained = open_model(graph, folders, run, progress, known=known)
    scored = _score(trained)

    predictions = with_groups(trained.predictions, trained.images.groups)
    predictions = graph(lambda store: with_clusters(store, run.test, predictions))
    uri = write_predictions(folders.open_output(), run.id, predictions)
    graph(lambda store: save_predictions_uri(store, run.id, uri))
    graph(lambda store: save_scores(store, run.id, scored.frame))

    left_out = (f"{metric} is not scored: {why}" for metric, why in scored.left_out.items())
    return " ".join([*trained.images.notes, *left_out])


def open_model(
    graph: AskGraph,
    folders: Folders,
    evaluation: Evaluation,
    progress: Progress,
    *,
    test: tuple[str, str | None] | None = None,
    known: KnownDatasets | None = None,
) -> TrainedEvaluation:
    """Open an evaluation's model where it is kept, or else train it on the images of now.

    Parameters
    ----------
    test : tuple of str and (str or None), optional
        Another dataset to predict, and its split.
    known : dict, optional
        As of `run_evaluation`.

    Raises
    ------
    CobalanceError
        Its datasets, settings or images cannot be used.
    """
    settings = RunSettings.read(evaluation.settings)
    datasets: KnownDatasets = {} if known is None else known
    dataset = evaluation.test
    if test is not None:
        dataset, split = test
        settings = settings.model_copy(update={"test_split": split})
    cache = folders.cache / "features"
    run = Run(evaluation.seed or 0, _checkpoints(folders, evaluation), progress, cache)

    def read_images(store: GraphStore) -> EvaluationImages:
        read = dataset_reader(store, folders, progress, datasets)
        return evaluation_images(evaluation, evaluation.train, dataset, settings, read, run)

    images = graph(read_images)
    # Reports of progress also notice that the task was cancelled meanwhile.
    progress("train", 0, 1)
    recipe = settings.recipe(evaluation.method)
    model: Model | Captioner | None = kept_model(recipe, run, images.test.classes)

    logging.getLogger(__name__).debug("model is kept: %s", model is not None)
    if model is not None:
        predictions = predict(model, images.test, seed=run.seed, method=evaluation.method)
    else:
        trained = train_run(recipe, run, images.training, images.validation, images.test)
        model, predictions = trained.model, trained.predictions

    progress("train", 1, 1)
    return TrainedEvaluation(
        evaluation=evaluation,
        settings=settings,
        images=images,
        model=model,
        predictions=check_predictions(predictions),
    )


def predict_dataset(
    store: GraphStore,
    folders: Folders,
    evaluation: str,
    dataset: str,
    split: str | None = None,
    *,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Predict real images of a dataset with an evaluation's model.

    Raises
    ------
    LeakError
        It was trained on some of them, or they are synthetic.
    CobalanceError
        The model is not kept and cannot be trained again, or there are no such images.
    """
    run = read_evaluation(store, evaluation)
    trained = open_model(lambda ask: ask(store), folders, run, progress, test=(dataset, split))
    return with_groups(trained.predictions, trained.images.groups)


def _checkpoints(folders: Folders, evaluation: Evaluation) -> Path:
    """The folder of checkpoints, another one where the images have changed."""
    of_images = f"{evaluation.train_digest:x}-{evaluation.test_digest:x}"
    return checkpoints_folder(folders, evaluation.id) / of_images.replace("--", "-")


def _score(trained: TrainedEvaluation) -> Scored:
    """Scores by all metrics that apply to the model and its predictions."""
    images, predictions = trained.images, trained.predictions
    options = METHODS.check(trained.evaluation.method, trained.settings.method_options)
    if isinstance(trained.model, Captioner):
        return _score_captions(predictions, images.test, options)

    inputs = Inputs(predictions, groups=images.groups, training=images.training_groups)
    scored = score_fitting(inputs, OF_PREDICTIONS)
    if isinstance(trained.model, TextModel):
        scored = _join_scores(scored, _score_clip(trained.model, images.test, options))
    return scored


def _score_captions(predictions: pd.DataFrame, test: Examples, options: Any) -> Scored:
    """Score a captioner's captions: the test images' own are the references, classes the groups.

    The ratio is of the two groups of the option ``words``, also where captions name one of them
    alone; where the list has more, of the two that they name.
    """
    references: list[tuple[str, str]] = []
    for image, captions in zip(test.ids, test.captions, strict=False):
        references += [(image, caption) for caption in captions]
    inputs = Inputs(
        predictions,
        captions=predictions,
        references=pd.DataFrame(references, columns=["image", "caption"]) if references else None,
        groups=pd.DataFrame({"image": list(test.ids), "class": _classes(test)}),
    )

    tables = {"ratio": _ratio_inputs(predictions, options.words), "lic": inputs, "meteor": inputs}
    scores = []
    for name, table in tables.items():
        if METRICS[name].fits(table):
            scores.append(_attempt(name, partial(METRICS.open(name), table)))
    if not options.scorer:
        return _join_scores(*scores)

    rows = positions_of(test.ids)

    def read(image: str) -> Pixels:
        return test.read(np.array([rows[image]]))[0]

    clip = {"model": options.scorer, "device": options.device, "offline": options.offline}
    of_clip = _attempt("clip_score", lambda: clip_score(caption_cosines(predictions, read, clip)))
    return _join_scores(*scores, of_clip)


def _score_clip(model: TextModel, test: Examples, options: Any) -> Scored:
    """Score a CLIP by the test images' classes as groups, and on its options' labelled folder."""
    scored = _attempt("self_similarity", lambda: profile_groups(model, test, _classes(test)))
    if not options.folder:
        return scored
    folder = Path(options.folder)
    return _join_scores(scored, _attempt("the folder", lambda: profile_folder(model, folder)))


def _join_scores(*several: Scored) -> Scored:
    """Scores of the same run below each other."""
    frames = [scored.frame for scored in several if len(scored.frame)]
    left_out: dict[str, str] = {}
    for scored in several:
        left_out.update(scored.left_out)
    frame = stack(frames) if frames else pd.DataFrame(columns=list(COLUMNS))
    return Scored(frame, left_out)


def _attempt(what: str, score: Callable[[], pd.DataFrame]) -> Scored:
    """Scores, or the reason why they are missing; the model's other scores are kept."""
    try:
        return Scored(score(), {})
    except CobalanceError as error:
        return Scored(pd.DataFrame(), {what: str(error)})


def _ratio_inputs(predictions: pd.DataFrame, words: str) -> Inputs:
    names = list(load_group_words(words).classes)
    if len(names) != 2:
        return Inputs(predictions)
    counts = [(predictions["predicted"] == name).sum() for name in names]
    return Inputs(table=pd.DataFrame([counts], columns=["first", "second"]))


def _classes(images: Examples) -> list[str]:
    return values_at(images.classes, images.labels.tolist())
