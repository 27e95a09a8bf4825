"""Manifest rows of generated images that a dataset has from earlier jobs."""

import pandas as pd

from cobalance.base.errors import Setting
from cobalance.base.plurals import inflect
from cobalance.generation.export.options import ExportError
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.manifest import manifest_frame
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.candidates import read_verdicts
from cobalance.graph.jobs.rebalance import generated_id
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
    labels = dict(
        zip(images["id"], zip(images["class"], images["concepts"], strict=True), strict=True)
    )
    by_job: dict[str, set[str]] = {}
    for image in labels:
        candidate = str(image).removeprefix(generated_id(""))
        by_job.setdefault(candidate.rpartition("/")[0].rpartition("/")[0], set()).add(candidate)
    rows = []
    for job, candidates in sorted(by_job.items()):
        found = []
        if job:
            verdicts = read_verdicts(store, job, sorted(candidates))
            found = [
                row | verdicts.get(row["candidate"], {})
                for row in read_records(folder, job)
                if row["candidate"] in candidates and row["path"] is not None
            ]
        if len(found) < len(candidates):
            raise ExportError(
                f"{folder.place} has {len(found):,} of the "
                f"{inflect(len(candidates), 'generated images')} that the dataset has from job "
                f"{job or '?'}. Name the folder that its workers wrote to with ",
                Setting("output"),
                ", or put the folder of that job back into it.",
            )
        rows += found
    for row in rows:
        row["class"], row["concepts"] = labels[generated_id(row["candidate"])]
    return manifest_frame(rows)
