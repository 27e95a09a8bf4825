"""Chunk records: one JSON file per finished chunk, with a row per candidate."""

import json
from typing import Any

from generation.output.folder import OutputFolder

Row = dict[str, Any]
"""A row of the manifest, see `generation.output.manifest`."""


def read_records(folder: OutputFolder, job: str) -> list[Row]:
    """Read what became of all chunks of a job, one row a candidate, in their order."""
    rows: dict[str, Row] = {}
    for name in folder.names(f"{job}/chunks"):
        if name.endswith(".json"):
            for row in json.loads(folder.read(f"{job}/chunks/{name}")):
                rows.setdefault(row["candidate"], row)
    return [rows[candidate] for candidate in sorted(rows)]
