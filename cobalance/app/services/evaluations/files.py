"""Files of evaluations: where checkpoints are, and deletion of all of them."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cobalance.app.services.evaluations.predictions import FOLDER
from cobalance.app.settings import Settings
from cobalance.graph.database.store import GraphStore
from cobalance.graph.evaluations.reading import read_evaluation
from cobalance.graph.evaluations.writing import delete_evaluation

if TYPE_CHECKING:
    from cobalance.generation.output.folder import OutputFolder


def checkpoints_folder(settings: Settings, evaluation: str) -> Path:
    """Where an evaluation's checkpoints are: beside its predictions, or in the cache for a URL."""
    place = settings.output_folder()
    root = Path(place) if "://" not in place else settings.cobalance_cache.expanduser()
    return root / FOLDER / evaluation / "checkpoints"


def delete_evaluations(
    store: GraphStore, settings: Settings, folder: "OutputFolder", evaluations: Sequence[str]
) -> None:
    """Delete evaluations one after the other, with their scores, predictions and checkpoints.

    Parameters
    ----------
    folder : OutputFolder
        Where predictions and maps are.

    Raises
    ------
    JobNotFoundError
        There is no evaluation of one of these ids; nothing is deleted.
    EvaluationRunningError
        A worker runs one; those before it are deleted.
    JobBlockedError
        Files cannot be deleted; the graph has nothing of their evaluation any more.
    """
    for one in evaluations:
        read_evaluation(store, one)
    for one in dict.fromkeys(evaluations):
        delete_evaluation(store, one)
        folder.delete_folder(f"{FOLDER}/{one}")
        shutil.rmtree(checkpoints_folder(settings, one).parent, ignore_errors=True)
