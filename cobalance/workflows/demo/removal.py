"""Mark datasets of demonstrations, and remove these from the store."""

import shutil
from pathlib import Path

from cobalance.base import NO_LIMIT, Action, ConflictError, Progress, silent
from cobalance.graph import (
    GraphStore,
    find_dataset,
    list_datasets,
    list_evaluations,
    list_jobs,
    make_dataset,
)
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.workflows.evaluate.stored import delete_evaluations
from cobalance.workflows.folders import Folders
from cobalance.workflows.load.dataset import drop_dataset


def claim_name(store: GraphStore, name: str) -> None:
    """Mark a dataset, made if missing; ConflictError if it is there and no demonstration's."""
    state = find_dataset(store, name)
    if state is not None and not state.demo:
        raise ConflictError(
            f"The demonstration needs the name {name!r}, and you have a dataset of this name. ",
            Action("rename_dataset", name, ...),
            ", and run the demonstration again.",
        )

    make_dataset(store, name)
    store.write(UPDATE_DATASET, dataset=name, values={"demo": True})


def remove_demos(store: GraphStore, folders: Folders, progress: Progress = silent) -> list[str]:
    """Delete demonstrations and everything derived from them; return the datasets' names.

    Files go first: if interrupted, run it again. Errors are those of `delete_evaluations`.
    """
    listed = list_datasets(store)
    names: list[str] = listed.loc[listed["demo"].astype(bool), "dataset"].tolist()
    for name in names:
        _remove_files(store, folders, name)
        drop_dataset(store, folders, name, progress)

    # Demonstrations write to folders alone, to no URL.
    for place in (folders.output, folders.home):
        shutil.rmtree(Path(place).expanduser() / "demo", ignore_errors=True)
    return names


def _remove_files(store: GraphStore, folders: Folders, name: str) -> None:
    """Delete the files of a dataset's jobs and of its evaluations."""
    jobs = list_jobs(store, name, limit=NO_LIMIT)
    evaluations = list_evaluations(store, name, limit=NO_LIMIT)
    trained = [evaluation.id for evaluation in evaluations if evaluation.train == name]
    # A first demonstration has neither, nor the extra worker that opens the output folder.
    if not (jobs or trained):
        return

    output = folders.open_output()
    delete_evaluations(store, folders, output, trained)
    for job in jobs:
        output.delete_folder(job.id)
        # The web app exports into this folder.
        for export in folders.exports.glob(f"*-rebalanced-{job.id}-*"):
            if export.is_dir():
                shutil.rmtree(export)
            else:
                export.unlink()
