"""A job's manifest: the rows of its chunk records, with the current verdicts from the graph.

It may have millions of rows: they are read, completed and written some thousands at a time.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby, islice
from typing import IO, Any, TypeAlias

import pandas as pd

from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.manifest import manifest_frame, write_rows
from cobalance.generation.output.manifest_rows import WITHOUT_SOURCE, Row
from cobalance.generation.output.settlement_records import Settled, Settlements, with_settlement
from cobalance.graph import GraphStore, Verdict, read_verdicts
from cobalance.vision.stored.output_folder import OutputFolder

BATCH_ROWS = 5_000
"""Most rows in memory at once, and in a row group: about 50 MB."""

ReadVerdicts: TypeAlias = Callable[[list[str]], Mapping[str, Mapping[str, Any]]]
"""Reads what the graph has of candidates, by id, as `graph.jobs.candidates.read_verdicts`."""


def manifest_name(job: str) -> str:
    """Name of a job's manifest in the output folder."""
    return f"{job}/manifest.parquet"


def stream_manifest(
    folder: OutputFolder, job: str, verdicts: ReadVerdicts, most: int = BATCH_ROWS
) -> Iterator[list[Row]]:
    """Read the rows of a job's manifest in batches, in order of query and number.

    Those of a query are in one batch, so that their verdicts are of one moment, unless it has more
    than `most`.

    Parameters
    ----------
    verdicts : callable
        Asked for each batch.
    """
    for batch in _batches(folder, job, most):
        current = verdicts([row["candidate"] for row, _ in batch])
        # A candidate that is neither in the graph nor settled was never reported.
        yield [
            with_settlement(row, settled, current.get(row["candidate"]))
            for row, settled in batch
            if row["candidate"] in current or settled is not None
        ]


def read_job_manifest(
    store: GraphStore, folder: OutputFolder, job: str, verdict: Verdict | None = None
) -> pd.DataFrame:
    """Read a job's manifest, with the current verdicts.

    Parameters
    ----------
    verdict : Verdict or None
        Only the rows with this verdict; of a job that makes many candidates for each image, the
        accepted ones are few.

    Returns
    -------
    pandas.DataFrame
        The columns of `cobalance.generation.output.manifest.MANIFEST_SCHEMA`, one row per candidate
        that was reported, in order of id. ``verdict`` and ``decided_by`` follow what people have
        decided. One that lost and was dropped from the graph is as its settlement has it, without
        files.
    """
    batches = stream_manifest(folder, job, partial(read_verdicts, store, job))
    frames = []
    for batch in batches:
        rows = [row for row in batch if verdict in (None, row["verdict"])]
        if rows:
            frames.append(manifest_frame(rows))
    return pd.concat(frames, ignore_index=True) if frames else manifest_frame([])


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
    for part in ("chunks", "images", "masks", "settled"):
        folder.delete_temporary(f"{job}/{part}")
    painted = _PaintedObjects()

    def write(file: IO[bytes]) -> None:
        batches = stream_manifest(folder, job, partial(read_verdicts, store, job))
        write_rows(map(painted.count, batches), file)

    folder.write_large(manifest_name(job), write)
    return painted.note


def _batches(
    folder: OutputFolder, job: str, most: int
) -> Iterator[list[tuple[Row, Settled | None]]]:
    """Rows with their settlements; a query's are in one batch, unless it has too many."""
    settlements = Settlements(folder, job)
    batch: list[tuple[Row, Settled | None]] = []

    for query, rows in groupby(read_records(folder, job), key=lambda row: int(row["query"])):
        settled = settlements.of_query(query)
        while part := list(islice(rows, most)):
            if len(batch) + len(part) > most:
                yield batch
                batch = []
            batch += [(row, settled.get(row["candidate"])) for row in part]

    if batch:
        yield batch


class _PaintedObjects:
    """Counts the images with a painted object although the dataset has image files."""

    def __init__(self) -> None:
        self._n_accepted = 0
        self._reasons = Counter[str]()

    def count(self, rows: list[Row]) -> list[Row]:
        """Count rows, and give them back."""
        # Most settings have no such reason: they are looked through before they are parsed.
        mark = f'"{WITHOUT_SOURCE}":'
        for row in rows:
            if row["verdict"] != "accepted":
                continue
            self._n_accepted += 1
            if mark in row["settings"]:
                self._reasons[json.loads(row["settings"])[WITHOUT_SOURCE]] += 1
        return rows

    @property
    def note(self) -> str:
        """How many, and the commonest reason; empty for none."""
        if not self._reasons:
            return ""

        # Of equally common ones the first by name, so that the note is always the same.
        reason = min(self._reasons, key=lambda text: (-self._reasons[text], text))
        return (
            f"{self._reasons.total():,} of {self._n_accepted:,} accepted images show a painted "
            f"shape in place of a real object. {reason}"
        )
