"""Run an evaluation: train, predict, score, and keep the results."""

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.model import Captioner, Model, TextModel
from cobalance.evaluation.training.run import kept_model, predict, train_run
from cobalance.generation.worker.resources import AskGraph
from cobalance.graph.database.store import GraphStore
from cobalance.graph.evaluations.reading import Evaluation, read_evaluation
from cobalance.graph.evaluations.writing import begin_evaluation, save_predictions_uri, save_scores
from cobalance.graph.progress import Progress, silent
from cobalance.graph.run_log import log_run
from cobalance.workflows.evaluate.image_models import joined, score_captions, score_clip
from cobalance.workflows.evaluate.images import (
    EvaluationImages,
    KnownDatasets,
    dataset_reader,
    evaluation_images,
)
from cobalance.workflows.evaluate.score import score_run, with_groups
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import checkpoints_folder, write_predictions
from cobalance.workflows.folders import Folders


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
    """Train, predict, score, and save both; return what people should know of it.

    Parameters
    ----------
    known : dict, optional
        Datasets that were read for other evaluations; those read for this one are added.

    Raises
    ------
    CobalanceError
        Its datasets, settings or images cannot be used; the message says why.
    """
    graph(partial(begin_evaluation, evaluation=evaluation))
    done = train_again(graph, folders, evaluation, progress, known=known)
    predictions = check_predictions(done.predictions)
    images = done.images
    options = METHODS.check(done.evaluation.method, done.settings.method_options)
    if isinstance(done.model, Captioner):
        scored = score_captions(predictions, images.test, options)
    else:
        inputs = Inputs(predictions, groups=images.groups, training=images.training_groups)
        scored = score_run(inputs)
        if isinstance(done.model, TextModel):
            scored = joined(scored, score_clip(done.model, images.test, options))
    folder = folders.open_output()
    uri = write_predictions(folder, evaluation, with_groups(predictions, images.groups))
    graph(partial(save_predictions_uri, evaluation=evaluation, uri=uri))
    graph(partial(save_scores, evaluation=evaluation, scores=scored.frame))
    return " ".join([*images.notes, *(_left_out(*one) for one in scored.left_out.items())])


def train_again(
    graph: AskGraph,
    folders: Folders,
    evaluation: str,
    progress: Progress,
    *,
    test: tuple[str, str | None] | None = None,
    known: KnownDatasets | None = None,
) -> TrainedEvaluation:
    """Train an evaluation's model on the images of now, or load it where it is kept.

    Parameters
    ----------
    test : tuple of str and (str or None), optional
        Another dataset to predict, and its split.
    known : dict, optional
        As of `run_evaluation`.

    Raises
    ------
    NotFoundError
        There is no such evaluation.
    CobalanceError
        Its datasets, settings or images cannot be used.
    """
    found = graph(partial(read_evaluation, evaluation=evaluation))
    checked = RunSettings.read(found.settings)
    if test is not None:
        checked = checked.model_copy(update={"test_split": test[1]})
    cache = folders.cache / "features"
    run = Run(found.seed or 0, _checkpoints(folders, found), progress, cache)

    def read_images(store: GraphStore) -> EvaluationImages:
        tested = found.test if test is None else test[0]
        read = dataset_reader(store, folders, progress, {} if known is None else known)
        return evaluation_images(found, found.train, tested, checked, read, run)

    images = graph(read_images)
    progress("train", 0, 1)  # also notices that it was cancelled meanwhile
    recipe = checked.recipe(found.method)
    model: Model | Captioner | None = kept_model(recipe, run, images.test.classes)
    logging.getLogger(__name__).debug("model is kept: %s", model is not None)
    if model is not None:
        predictions = predict(model, images.test, seed=run.seed, method=found.method)
    else:
        trained = train_run(recipe, run, images.training, images.validation, images.test)
        model, predictions = trained.model, trained.predictions
    progress("train", 1, 1)
    return TrainedEvaluation(found, checked, images, model, predictions)


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
    done = train_again(lambda ask: ask(store), folders, evaluation, progress, test=(dataset, split))
    groups = done.images.groups
    return with_groups(check_predictions(done.predictions), groups)


def _checkpoints(folders: Folders, evaluation: Evaluation) -> Path:
    """The folder of checkpoints, another one where the images have changed."""
    of_images = f"{evaluation.train_digest:x}-{evaluation.test_digest:x}"
    return checkpoints_folder(folders, evaluation.id) / of_images.replace("--", "-")


def _left_out(metric: str, reason: str) -> str:
    return f"{metric} is not scored: {reason}"
