"""Files of evaluations in the output folder: predictions, checkpoints and activation maps."""

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cobalance.base import CobalanceError
from cobalance.evaluation import check_predictions
from cobalance.graph import Evaluation, GraphStore, delete_evaluation, read_evaluation
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError
from cobalance.workflows.folders import Folders

FOLDER = "evaluations"
"""The folder in the output folder."""


def checkpoints_folder(folders: Folders, evaluation: str) -> Path:
    """Where an evaluation's checkpoints are: beside its predictions, or in the cache for a URL."""
    place = folders.output
    root = Path(place) if "://" not in place else folders.cache
    return root / FOLDER / evaluation / "checkpoints"


def delete_evaluations(
    store: GraphStore, folders: Folders, folder: OutputFolder, evaluations: Sequence[str]
) -> None:
    """Delete evaluations one after the other, with their scores, predictions and checkpoints.

    Parameters
    ----------
    folder : OutputFolder
        Where predictions and maps are.

    Raises
    ------
    NotFoundError
        There is no evaluation of one of these ids; nothing is deleted.
    ConflictError
        A worker runs one; those before it are deleted.
    JobBlockedError
        Files cannot be deleted; the graph has nothing of their evaluation any more.
    """
    # All ids are checked first, so that a wrong one deletes nothing.
    for evaluation in evaluations:
        read_evaluation(store, evaluation)

    for evaluation in dict.fromkeys(evaluations):
        delete_evaluation(store, evaluation)
        folder.delete_folder(f"{FOLDER}/{evaluation}")
        shutil.rmtree(checkpoints_folder(folders, evaluation).parent, ignore_errors=True)


class NoPredictionsError(CobalanceError):
    """An evaluation has no predictions, or not where they should be."""


MAP_COLUMNS = ("image", "class_name", "predicted", "cam_energy", "mask_share", "map")
"""Columns of maps; ``map`` is a greyscale PNG of the image's shape, bright where the model sees its
class, and the shares are NaN for an image without regions of its object."""


def write_predictions(folder: OutputFolder, evaluation: str, predictions: pd.DataFrame) -> str:
    """Write an evaluation's predictions, and return their address in the output folder."""
    return _write(folder, f"{FOLDER}/{evaluation}/predictions.parquet", predictions)


def write_maps(folder: OutputFolder, evaluation: str, maps: pd.DataFrame) -> None:
    """Write an evaluation's class activation maps, with the columns `MAP_COLUMNS`."""
    _write(folder, _maps_uri(evaluation), maps[list(MAP_COLUMNS)])


def read_maps(folder: OutputFolder, evaluation: str) -> pd.DataFrame:
    """Read an evaluation's class activation maps; no rows where none are kept."""
    try:
        return pd.read_parquet(io.BytesIO(folder.read(_maps_uri(evaluation))))
    except OutputMissingError:
        return pd.DataFrame(columns=list(MAP_COLUMNS))


def _maps_uri(evaluation: str) -> str:
    return f"{FOLDER}/{evaluation}/maps.parquet"


def _write(folder: OutputFolder, uri: str, frame: pd.DataFrame) -> str:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    folder.write(uri, buffer.getvalue())
    return uri


def read_saved_predictions(folder: OutputFolder, evaluation: Evaluation) -> pd.DataFrame:
    """Read an evaluation's predictions.

    Raises
    ------
    NoPredictionsError
        It has none yet, or they are not in this output folder.
    """
    if evaluation.predictions_uri is None:
        reason = f": {evaluation.error.rstrip('.')}" if evaluation.error else ""
        advice = "Wait until it is done."
        if evaluation.state in ("failed", "cancelled"):
            advice = "Queue it again, or order another one."
        raise NoPredictionsError(
            f"The evaluation {evaluation.id} is {evaluation.state} and has no predictions{reason}. "
            f"{advice}"
        )

    try:
        content = folder.read(evaluation.predictions_uri)
    except OutputMissingError as error:
        raise NoPredictionsError(
            f"{folder.place} has no {evaluation.predictions_uri}. Name the folder that its worker "
            "wrote to with COBALANCE_OUTPUT."
        ) from error
    return check_predictions(pd.read_parquet(io.BytesIO(content)), evaluation.predictions_uri)
