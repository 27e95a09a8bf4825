"""Labels of accepted runs: FOUND edges, and the CONTAINS edges derived from them."""

from collections.abc import Callable

import pandas as pd

from cobalance.base import Progress, silent
from cobalance.graph.annotations import statements
from cobalance.graph.annotations.runs import AnnotationRun, list_runs
from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import EDGE_BATCH, batches
from cobalance.graph.dataset import IngestReport, replace_mentions

ReadFound = Callable[[str], pd.DataFrame]
"""Reads what a run found: ``image``, ``concept`` and ``score``, an image and concept once."""


def source_of(model: str, run: str) -> str:
    """The source of a run's mentions: it tells runs of one model apart."""
    return f"{model} (run {run})"


def still_labelled(store: GraphStore, run: AnnotationRun) -> bool:
    """Whether labels of a run are in its dataset, as after a rejection that was interrupted."""
    source = source_of(run.model, run.id)
    return bool(store.read(statements.STILL_LABELLED, dataset=run.dataset, source=source))


def apply_runs(
    store: GraphStore, dataset: str, read_found: ReadFound, *, progress: Progress = silent
) -> IngestReport:
    """Derive a dataset's labels from its accepted runs, and from no others.

    The dataset's own annotations stay, and win where they and a run name the same concept; without
    accepted runs the dataset is as before the first. Interrupted, it goes on when run again.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    StoreError
        Another process writes the same dataset at the same time, or the database fails.
    """
    all_runs = list_runs(store, dataset)
    runs = [run for run in all_runs if run.kind != "propose"]
    labels_by_run = {run.id: read_found(run.id) for run in runs if run.state == "accepted"}
    for run in runs:
        if run.id not in labels_by_run:
            store.write_in_batches(statements.DELETE_FOUND, dataset=dataset, run=run.id)

    sources = {run.id: source_of(run.model, run.id) for run in runs}
    columns = ["image", "concept", "source", "score"]
    frames = [frame.assign(source=sources[run])[columns] for run, frame in labels_by_run.items()]
    labels = pd.concat(frames) if frames else pd.DataFrame(columns=columns)
    report = replace_mentions(store, dataset, list(sources.values()), labels, progress=progress)

    # Labels change the digest of the images, but not what the runs have seen of these.
    current = [run.id for run in all_runs if not run.outdated]
    store.write(statements.SEEN_BY_RUNS, dataset=dataset, runs=current)

    for run_id, frame in labels_by_run.items():
        store.write_in_batches(statements.DELETE_FOUND, dataset=dataset, run=run_id)
        rows = frame[["image", "concept", "score"]].astype(object).to_numpy().tolist()
        for number, batch in enumerate(batches(rows, EDGE_BATCH)):
            progress("write what was found", number * EDGE_BATCH, len(rows))
            store.write(statements.SAVE_FOUND, dataset=dataset, run=run_id, rows=batch)
    return report
