"""A job's manifest: what its chunks say of each image, with the verdicts that the graph has now."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pandas as pd

from generation.output.chunk_records import read_records
from generation.output.folder import OutputFolder
from generation.output.manifest import manifest_frame, manifest_table, write_table
from generation.output.provenance import WITHOUT_SOURCE
from graph.database.store import GraphStore
from graph.jobs.candidates import read_verdicts


def manifest_name(job: str) -> str:
    """The manifest's file in the output folder."""
    return f"{job}/manifest.parquet"


def read_job_manifest(store: GraphStore, folder: OutputFolder, job: str) -> pd.DataFrame:
    """Give a job's candidates as the manifest has them, with the verdicts of now.

    Returns
    -------
    pandas.DataFrame
        The columns of `generation.output.manifest.MANIFEST_SCHEMA`: all candidates that the graph
        has, in order of id. What people decided since is in ``verdict`` and ``decided_by``.
    """
    verdicts = read_verdicts(store, job)
    rows: Sequence[dict[str, Any]] = [
        row | verdicts[row["candidate"]]
        for row in read_records(folder, job)
        if row["candidate"] in verdicts
    ]
    return manifest_frame(rows)


def write_job_manifest(store: GraphStore, folder: OutputFolder, job: str) -> str:
    """Write a job's manifest to the output folder, in place of an earlier one.

    It is for when all images are made: what killed workers left half-written is deleted.

    Returns
    -------
    str
        What people should know of the images; empty for nothing.

    Raises
    ------
    JobBlockedError
        The folder cannot be written to.
    """
    for part in ("chunks", "images", "masks"):
        folder.sweep(f"{job}/{part}")
    out = BytesIO()
    manifest = read_job_manifest(store, folder, job)
    write_table(manifest_table(manifest), out)
    folder.write(manifest_name(job), out.getvalue())
    return _note_of(manifest)


def _note_of(manifest: pd.DataFrame) -> str:
    """Say how many images show a painted object although the dataset names image files, and why."""
    accepted = manifest[manifest["verdict"] == "accepted"]
    texts = accepted["settings"]
    painted = texts[texts.str.contains(f'"{WITHOUT_SOURCE}":', regex=False)]
    if painted.empty:
        return ""
    why = painted.map(lambda text: json.loads(text)[WITHOUT_SOURCE]).mode()[0]
    return (
        f"{len(painted):,} of {len(accepted):,} accepted images show a painted object, none of the "
        f"dataset's. {why}"
    )
