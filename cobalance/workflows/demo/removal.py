"""Tell datasets of demonstrations from one's own, and remove all that demonstrations made."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import find_dataset, list_datasets
from cobalance.graph.errors import Action, ConflictError
from cobalance.graph.evaluations.reading import list_evaluations
from cobalance.graph.jobs.status import list_jobs
from cobalance.graph.progress import Progress, silent
from cobalance.workflows.evaluate.stored import delete_evaluations
from cobalance.workflows.folders import Folders
from cobalance.workflows.load.dataset import drop_dataset

FOLDER = "demo"
"""The folder of demonstrations in the output folder and in the home."""

_ALL = 2**31 - 1


@dataclass(frozen=True)
class Removed:
    """Names of the datasets that were removed, and how many jobs and evaluations with them."""

    datasets: tuple[str, ...]
    jobs: int
    evaluations: int


def check_demo_name(store: GraphStore, name: str) -> None:
    """Raise ConflictError if a dataset of this name is there that no demonstration made."""
    state = find_dataset(store, name)
    if state is not None and not state.demo:
        raise ConflictError(
            f"The demonstration needs the name {name!r}, and you have a dataset of this name. ",
            Action("rename_dataset", name, ...),
            ", and run the demonstration again.",
        )


def remove_demos(store: GraphStore, folders: Folders, progress: Progress = silent) -> Removed:
    """Delete all datasets that demonstrations made, with everything made of them.

    These are copies of the datasets, too, and jobs, plans, evaluations, annotation runs, and the
    files of all of these. Files go first: if interrupted, run it again.

    Raises
    ------
    ConflictError
        A worker runs an evaluation of one of them.
    JobBlockedError
        Files cannot be deleted.
    """
    listed = list_datasets(store)
    names = tuple(listed.loc[listed["demo"].astype(bool), "dataset"])
    jobs = [job.id for name in names for job in list_jobs(store, name, limit=_ALL)]
    evaluations = [
        one.id
        for name in names
        for one in list_evaluations(store, name, limit=_ALL)
        if one.train == name
    ]
    if jobs or evaluations:
        output = folders.open_output()
        delete_evaluations(store, folders, output, evaluations)
        for job in jobs:
            output.delete_folder(job)
    for name in names:
        drop_dataset(store, folders, name, progress)
    for place in (folders.output, folders.home):  # a URL is none that demonstrations write to
        shutil.rmtree(Path(place).expanduser() / FOLDER, ignore_errors=True)
    return Removed(names, len(jobs), len(evaluations))
