"""Artefact test: whether a model answers otherwise where test images were painted anew."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base.errors import Action, DataError, OptionError
from cobalance.base.progress import Progress, silent
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.training.examples import Examples, IntArray, Pixels
from cobalance.evaluation.training.run import predict
from cobalance.graph.database.store import GraphStore
from cobalance.graph.evaluations.reading import read_evaluation
from cobalance.graph.evaluations.writing import save_scores
from cobalance.graph.jobs.rebalance import read_accepted
from cobalance.graph.jobs.status import read_job
from cobalance.vision.images.decoding import decode, rgb_array
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
    found = read_evaluation(store, evaluation)
    made = read_job(store, job)
    if made.dataset != found.test:
        raise OptionError(
            f"The job {job} is of {made.dataset!r}, and the evaluation {evaluation} is tested on "
            f"{found.test!r}. Name a job that edits images of {found.test!r}."
        )
    uris: dict[str, str] = {}
    for one in read_accepted(store, job):
        if one.edited and one.uri is not None and one.source_image is not None:
            uris.setdefault(one.source_image, one.uri)
    if not uris:
        raise DataError(
            f"The job {job} has no accepted image that is an edit of another. Plan one with: ",
            Action("plan_counterfactuals", found.test, recipe=RECIPE),
            ".",
        )
    done = open_model(lambda ask: ask(store), folders, found, progress)
    test = done.images.test
    rows = [row for row, image in enumerate(test.ids) if image in uris]
    if not rows:
        raise DataError(
            f"None of the {len(uris):,} images that the job {job} edits is a test image of the "
            f"evaluation {evaluation} (split {done.settings.test_split or 'any'}). Order a job of "
            "its test split."
        )
    edited = _edit_examples(test, rows, uris, image_reader(folders, found.test))
    predicted = predict(done.model, edited, seed=found.seed or 0, method=found.method)
    after = check_predictions(predicted, "edited images")
    before = done.predictions
    before = before[before["image"].isin(after["image"])].reset_index(drop=True)
    inputs = Inputs(before.assign(method=found.method), edited=after, seed=seed)
    scores = METRICS.open("artefact_shift", {"first": first, "second": second})(inputs)
    save_scores(store, evaluation, scores)
    return ArtefactTest(before, after, scores)


def _edit_examples(
    test: Examples, rows: list[int], uris: Mapping[str, str], read_file: ReadFile
) -> Examples:
    """The test images of some rows, with the pixels of their edits."""
    taken = test.take(np.array(rows, dtype=np.int64))

    def read(at: IntArray) -> list[Pixels]:
        files = (read_file(uris[taken.ids[row]], True) for row in at.tolist())
        return [rgb_array(decode(content).upright()) for content in files]

    return replace(taken, read=read, whole=None, rows=None)
