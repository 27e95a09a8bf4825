"""Artefact test: whether a model answers otherwise where test images were painted anew."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import Action, DataError, OptionError, Progress, silent
from cobalance.evaluation import METRICS, Examples, Inputs, IntArray, Pixels, check_predictions
from cobalance.evaluation.training.run import predict
from cobalance.graph import GraphStore, read_accepted, read_evaluation, read_job, save_scores
from cobalance.vision import decode, rgb_array
from cobalance.workflows.evaluate.train import open_model
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import ReadFile, image_reader

RECIPE = "resampled-control"
"""The recipe that makes the images of the test."""


@dataclass(frozen=True, eq=False)
class ArtefactTest:
    """Predictions for test images and for the same ones with a region painted anew.

    Parameters
    ----------
    predictions, edited : pandas.DataFrame
        Of the same images, see `cobalance.evaluation.predictions.check_predictions`.
    scores : pandas.DataFrame
        ``artefact_shift`` (percent), ``artefact_ratio`` and ``artefact_accuracy`` of both.
    """

    predictions: pd.DataFrame
    edited: pd.DataFrame
    scores: pd.DataFrame


def run_artefact_test(
    store: GraphStore,
    folders: Folders,
    evaluation: str,
    job: str,
    first: str = "",
    second: str = "",
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> ArtefactTest:
    """Predict test images and a job's edits of them with an evaluation's model; save the scores.

    Resampled Datasets Are Not Enough, section 3.3: the job paints a region of each test image anew
    and says who is there as before, with the recipe `RECIPE` or any other that edits images.

    Parameters
    ----------
    job : str
        A job of the test dataset that edits images; of several accepted edits of an image the first
        counts.
    first, second : str
        The predicted groups whose ratio is compared; may be left out where there are two.
    seed : int
        Of the bootstrap.

    Raises
    ------
    NotFoundError
        There is no such evaluation or job.
    OptionError
        The job is of another dataset, or none of its accepted images is of a test image.
    CobalanceError
        The model is not kept and cannot be trained again, or an image not be read.
    """
    run = read_evaluation(store, evaluation)
    dataset = read_job(store, job).dataset
    if dataset != run.test:
        raise OptionError(
            f"The job {job} is of {dataset!r}, and the evaluation {evaluation} is tested on "
            f"{run.test!r}. Name a job that edits images of {run.test!r}."
        )

    uris = _edits_by_source(store, job)
    if not uris:
        raise DataError(
            f"The job {job} has no accepted image that is an edit of another. Plan one with: ",
            Action("plan_counterfactuals", run.test, recipe=RECIPE),
            ".",
        )

    # The model may have to be trained again, so that the job is checked first.
    trained = open_model(lambda ask: ask(store), folders, run, progress)
    test = trained.images.test
    rows = [row for row, image in enumerate(test.ids) if image in uris]
    if not rows:
        raise DataError(
            f"None of the {len(uris):,} images that the job {job} edits is a test image of the "
            f"evaluation {evaluation} (split {trained.settings.test_split or 'any'}). Order a job "
            "of its test split."
        )

    edited = _edit_examples(test, rows, uris, image_reader(folders, run.test))
    predicted = predict(trained.model, edited, seed=run.seed or 0, method=run.method)
    after = check_predictions(predicted, "edited images")

    # The same images without their edits, so that nothing else differs.
    before = trained.predictions
    before = before[before["image"].isin(after["image"])].reset_index(drop=True)

    inputs = Inputs(before.assign(method=run.method), edited=after, seed=seed)
    scores = METRICS.open("artefact_shift", {"first": first, "second": second})(inputs)
    save_scores(store, evaluation, scores)
    return ArtefactTest(before, after, scores)


def _edits_by_source(store: GraphStore, job: str) -> dict[str, str]:
    """Addresses of a job's accepted edits, by the image that is edited; the first of each."""
    uris: dict[str, str] = {}
    for image in read_accepted(store, job):
        if image.edited and image.uri is not None and image.source_image is not None:
            uris.setdefault(image.source_image, image.uri)
    return uris


def _edit_examples(
    test: Examples, rows: list[int], uris: Mapping[str, str], read_file: ReadFile
) -> Examples:
    """The test images of some rows, with the pixels of their edits."""
    examples = test.take(np.array(rows, dtype=np.int64))

    def read(positions: IntArray) -> list[Pixels]:
        pixels = []
        for position in positions.tolist():
            uri = uris[examples.ids[position]]
            content = read_file(uri, True)
            pixels.append(rgb_array(decode(content).upright()))
        return pixels

    # Without `whole`, nothing that was computed from the images before their edits is used again.
    return replace(examples, read=read, whole=None, rows=None)
