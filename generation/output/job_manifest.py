"""A job's manifest: the rows of its chunk records, with the current verdicts from the graph."""

import json
from io import BytesIO

import pandas as pd

from generation.output.chunk_records import read_records
from generation.output.folder import OutputFolder
from generation.output.manifest import manifest_frame, manifest_table, write_table
from generation.output.rows import WITHOUT_SOURCE, Row
from generation.output.settlement_records import read_settlements, with_settlement
from graph.database.store import GraphStore
from graph.jobs.candidates import read_verdicts


def manifest_name(job: str) -> str:
    """Name of a job's manifest in the output folder."""
    return f"{job}/manifest.parquet"


def read_job_manifest(store: GraphStore, folder: OutputFolder, job: str) -> pd.DataFrame:
    """Read a job's manifest, with the current verdicts.

    Returns
    -------
    pandas.DataFrame
        The columns of `generation.output.manifest.MANIFEST_SCHEMA`, one row per candidate that was
        reported, in order of id. ``verdict`` and ``decided_by`` follow what people have decided.
        One that lost and was dropped from the graph is as its settlement has it, without files.
    """
    verdicts = read_verdicts(store, job)
    settled = read_settlements(folder, job)
    rows: list[Row] = [
        with_settlement(row, settled.get(row["candidate"]), verdicts.get(row["candidate"]))
        for row in read_records(folder, job)
        if row["candidate"] in verdicts or row["candidate"] in settled
    ]
    return manifest_frame(rows)


def write_job_manifest(store: GraphStore, folder: OutputFolder, job: str) -> str:
    """Write a finished job's manifest to the output folder, replacing an earlier one.

    Temporary files of killed workers are deleted.

    Returns
    -------
    str
        A note on the images for people; may be empty.

    Raises
    ------
    JobBlockedError
        The folder cannot be written to.
    """
    for part in ("chunks", "images", "masks"):
        folder.delete_temporary(f"{job}/{part}")
    out = BytesIO()
    manifest = read_job_manifest(store, folder, job)
    write_table(manifest_table(manifest), out)
    folder.write(manifest_name(job), out.getvalue())
    return _note_of(manifest)


def _note_of(manifest: pd.DataFrame) -> str:
    """Count the images with a painted object although the dataset has image files, and say why."""
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
