"""Manifest rows of generated images that a dataset has from earlier jobs."""

from typing import Any

import pandas as pd

from cobalance.base import Setting, inflect
from cobalance.generation.export.options import ExportError
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.manifest import manifest_frame
from cobalance.graph.database import GraphStore
from cobalance.graph.jobs import generated_id, read_verdicts
from cobalance.vision.stored.output_folder import OutputFolder


def read_merged(store: GraphStore, folder: OutputFolder, images: pd.DataFrame) -> pd.DataFrame:
    """Read the manifest rows of images that earlier jobs generated and that were merged.

    Class and concepts are the dataset's, which an annotator may have found; verdicts are current.
    The output folder keeps the rows of a job that was dropped with its dataset.

    Parameters
    ----------
    images : pandas.DataFrame
        ``id``, ``class`` and ``concepts`` (a list of str).

    Returns
    -------
    pandas.DataFrame
        The columns of `cobalance.generation.output.manifest.MANIFEST_SCHEMA`, in order of
        candidate.

    Raises
    ------
    ExportError
        The folder does not have all of them.
    """
    labels = {}
    for image, *label in images[["id", "class", "concepts"]].itertuples(index=False):
        labels[image] = label
    candidates_of: dict[str, set[str]] = {}
    for image in labels:
        # Candidates are named job/query/index.
        candidate = str(image).removeprefix(generated_id(""))
        job = candidate.rpartition("/")[0].rpartition("/")[0]
        candidates_of.setdefault(job, set()).add(candidate)

    rows = []
    for job, candidates in sorted(candidates_of.items()):
        job_rows = _read_rows(store, folder, job, candidates) if job else []
        if len(job_rows) < len(candidates):
            raise ExportError(
                f"{folder.place} has {len(job_rows):,} of the "
                f"{inflect(len(candidates), 'generated images')} that the dataset has from job "
                f"{job or '?'}. Name the folder that its workers wrote to with ",
                Setting("output"),
                ", or put the folder of that job back into it.",
            )
        rows += job_rows

    # The dataset may have changed classes and concepts since the images were made.
    for row in rows:
        row["class"], row["concepts"] = labels[generated_id(row["candidate"])]
    return manifest_frame(rows)


def _read_rows(
    store: GraphStore, folder: OutputFolder, job: str, candidates: set[str]
) -> list[dict[str, Any]]:
    """Read the records of a job's candidates that have a file, with the verdicts on them."""
    verdicts = read_verdicts(store, job, sorted(candidates))
    return [
        row | verdicts.get(row["candidate"], {})
        for row in read_records(folder, job)
        if row["candidate"] in candidates and row["path"] is not None
    ]
