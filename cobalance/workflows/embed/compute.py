"""Compute the embeddings of a dataset's images: here, or by a worker."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import CobalanceError, DataError, Progress, log_run, silent, values_at
from cobalance.evaluation import (
    FEATURES,
    USUAL,
    Examples,
    Features,
    IntArray,
    Pixels,
    VisionFeatures,
)
from cobalance.generation.worker.resources import RunTask, TaskRun
from cobalance.graph import GraphStore, create_task
from cobalance.ingest import Vectors, check_vectors, write_table
from cobalance.workflows.embed.search import KIND, computed_file, keep_embeddings
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import (
    ReadPixels,
    describe_unread,
    images_with_files,
    pixel_reader,
)

# Images from one report of the progress to the next.
_BLOCK = 256
# Images that features without a model learn from.
_LEARNED = 5_000


@log_run
def order_embeddings(
    store: GraphStore,
    dataset: str,
    features: str = USUAL,
    options: Mapping[str, Any] | None = None,
    *,
    created_by: str = "",
) -> str:
    """Order the embeddings of a dataset's images, in place of those it has; return the task's id.

    Parameters
    ----------
    features : str
        A name in `cobalance.evaluation.training.features.FEATURES`.
    options : mapping, optional
        Their options.
    created_by : str
        Who orders them; empty without a login.

    Raises
    ------
    UnknownNameError
        There are no such features.
    DataError
        The options are not theirs, or no image has a file.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    checked = FEATURES.check(features, options or {}).model_dump(mode="json")
    images_with_files(store, dataset)
    return create_task(
        store,
        KIND,
        FEATURES[features].extra or "worker",
        dataset=dataset,
        settings={"features": features, "options": checked},
        created_by=created_by,
    )


def embedding_tasks(folders: Folders) -> dict[str, RunTask]:
    """Functions that execute tasks of embeddings, by kind."""
    return {KIND: partial(_embed, folders)}


@log_run
def compute_embeddings(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    features: str,
    options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> str:
    """Compute a dataset's embeddings in this process, and keep them; return which are missing.

    Parameters and errors as of `order_embeddings`.
    """
    checked = FEATURES.check(features, options or {}).model_dump(mode="json")
    images = images_with_files(store, dataset)
    settings = {"features": features, "options": checked}
    ids, unit, note = _compute(folders, dataset, images, settings, progress)
    keep_embeddings(store, folders, dataset, features, ids, unit)
    return note


def _embed(folders: Folders, task: TaskRun) -> str:
    """Compute the embeddings, for `collect_computed`; return which images could not be read."""
    dataset = str(task.dataset)
    images = task.graph(partial(images_with_files, dataset=dataset))
    ids, unit, note = _compute(folders, dataset, images, task.settings, task.progress)
    folder = folders.open_output()
    folder.write_large(computed_file(task.id), lambda file: write_table(file, ids, unit))
    return note


def _compute(
    folders: Folders,
    dataset: str,
    images: pd.DataFrame,
    settings: Mapping[str, Any],
    progress: Progress,
) -> tuple[list[str], Vectors, str]:
    """Ids and vectors of the images that can be read, and a note on the others."""
    progress("prepare", 0, None)
    name = str(settings["features"])
    features = FEATURES.open(name, FEATURES.check(name, settings["options"]))
    unread: dict[int, str] = {}
    examples = _examples(pixel_reader(folders, dataset), images, unread)
    # Where no image can be read, no model needs to be fitted.
    _require_one(examples, unread)

    # When the task starts again, the first images are known.
    if isinstance(features, VisionFeatures):
        features = features.with_cache(folders.cache / "features")
    features = fit_to_sample(features, examples)
    rows = np.arange(len(images))
    blocks = []
    for start in range(0, len(rows), _BLOCK):
        progress("embed images", start, len(rows))
        block = features.read(examples.take(rows[start : start + _BLOCK]))
        blocks.append(block.astype(np.float32))

    is_read = ~np.isin(rows, list(unread))
    ids = images["id"][is_read].tolist()
    unit = check_vectors(name, ids, np.concatenate(blocks)[is_read])
    return ids, unit, _describe_unread(unread)


def fit_to_sample(features: Features, images: Examples) -> Features:
    """The features, fitted to a sample of the images if they override `Features.fit`."""
    if type(features).fit is Features.fit:
        return features
    step = math.ceil(len(images) / _LEARNED)
    return features.fit(images.take(np.arange(0, len(images), step)), 0)[0]


def _require_one(examples: Examples, unread: dict[int, str]) -> None:
    """Raise DataError if not a single image can be read."""
    for row in range(len(examples)):
        examples.read(np.array([row]))
        if row not in unread:
            return
    raise DataError(_describe_unread(unread))


def _describe_unread(unread: Mapping[int, str]) -> str:
    """How many images could not be read, with the reason for the first; empty for none."""
    return describe_unread(values_at(unread, sorted(unread)))


def _examples(read: ReadPixels, images: pd.DataFrame, unread: dict[int, str]) -> Examples:
    """The images; unreadable ones are black and noted in `unread` by row."""
    ids, files = images["id"].tolist(), [*zip(images["uri"], images["synthetic"], strict=True)]

    def read_row(row: int) -> Pixels:
        try:
            return read(*files[row])
        except CobalanceError as error:
            unread[row] = f"{ids[row]}: {error}"
            return np.zeros((8, 8, 3), dtype=np.uint8)

    def read_rows(rows: IntArray) -> list[Pixels]:
        return list(map(read_row, rows.tolist()))

    unlabelled = np.full(len(ids), -1)
    return Examples(ids, np.zeros_like(unlabelled), unlabelled, unlabelled, ("",), read_rows)
