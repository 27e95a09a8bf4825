"""Chunk records: one JSON file per finished chunk, with a row per candidate."""

import json
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from cobalance.generation.output.rows import Row
from cobalance.ingest.stored.output_folder import OutputFolder, OutputMissingError


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


def read_records(folder: OutputFolder, job: str) -> Iterator[Row]:
    """Read the rows of all finished chunks of a job, in order of query and number.

    Each record is read twice: first for the candidate that it begins with, so that the second time
    no row is held for longer than its turn takes to come. Of a candidate that is in two records,
    such as of a chunk and of its halves, the row of the first by name is taken.
    """
    starts = [
        (min(map(_place, rows)), name)
        for name in folder.names(f"{job}/chunks")
        if name.endswith(".json") and (rows := _read(folder, job, name))
    ]
    starts.sort()
    held: list[tuple[tuple[int, int], str, int, Row]] = []
    latest = None
    for at, (_, name) in enumerate(starts):
        for number, row in enumerate(_read(folder, job, name)):
            heappush(held, (_place(row), name, number, row))
        is_last = at + 1 == len(starts)
        while held and (is_last or held[0][0] < starts[at + 1][0]):
            place, *_, row = heappop(held)
            if place != latest:
                yield row
            latest = place


def _read(folder: OutputFolder, job: str, name: str) -> list[Row]:
    rows: list[Row] = json.loads(folder.read(f"{job}/chunks/{name}"))
    return rows


def _place(row: Row) -> tuple[int, int]:
    return row["query"], row["index"]
