"""Chunk records: one JSON file per finished chunk, with a row per candidate."""

import json
from collections.abc import Sequence

from generation.output.folder import OutputFolder, OutputMissingError
from generation.output.rows import Row


class ChunkRecord:
    """A chunk's record in the output folder, and how often the chunk was started."""

    def __init__(self, folder: OutputFolder, job: str, chunk: str) -> None:
        self._folder = folder
        self._name = f"{job}/chunks/{chunk}.json"
        self._starts_name = f"{job}/chunks/{chunk}.starts"

    def read(self) -> list[Row] | None:
        """Read the rows of the chunk's candidates; None until the chunk is finished."""
        try:
            rows: list[Row] = json.loads(self._folder.read(self._name))
        except OutputMissingError:
            return None
        return rows

    def write(self, rows: Sequence[Row]) -> None:
        """Write the rows of all candidates: from then on the chunk is finished."""
        text = json.dumps(list(rows), ensure_ascii=False, sort_keys=True, indent=0)
        self._folder.write(self._name, text.encode())

    def count_start(self) -> int:
        """Count a start; give how many there were before."""
        try:
            before = int(self._folder.read(self._starts_name) or b"0")
        except (OutputMissingError, ValueError):
            before = 0
        self._folder.write(self._starts_name, str(before + 1).encode())
        return before

    def clear_starts(self) -> None:
        """Delete the count of starts."""
        self._folder.delete(self._starts_name)

    def was_started(self) -> bool:
        """Whether the chunk is finished or was started."""
        return self._folder.exists(self._name) or self._folder.exists(self._starts_name)


def read_records(folder: OutputFolder, job: str) -> list[Row]:
    """Read the rows of all finished chunks of a job, in order of candidate."""
    rows: dict[str, Row] = {}
    for name in folder.names(f"{job}/chunks"):
        if name.endswith(".json"):
            for row in json.loads(folder.read(f"{job}/chunks/{name}")):
                rows.setdefault(row["candidate"], row)
    return [rows[candidate] for candidate in sorted(rows)]
