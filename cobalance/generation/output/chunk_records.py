"""Chunk records: one JSON file per finished chunk, with a row per candidate."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from io import BytesIO
from operator import attrgetter
from typing import Any

import numpy as np

from cobalance.base import InputError, group_pairs
from cobalance.generation.filters.pool import EmbeddedImage
from cobalance.generation.output.manifest_rows import Row
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError

_NEEDED = {"candidate", "query", "index", "verdict", "settings"}


class ChunkRecord:
    """A chunk's record in the output folder, and how often the chunk was started."""

    def __init__(self, folder: OutputFolder, job: str, chunk: str) -> None:
        self._folder = folder
        self._name = f"{job}/chunks/{chunk}.json"
        self._starts_name = f"{job}/chunks/{chunk}.starts"

    def read(self) -> list[Row] | None:
        """Read the rows of the chunk's candidates; None until the chunk is finished."""
        try:
            return _read(self._folder, self._name)
        except OutputMissingError:
            return None

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

    Raises
    ------
    InputError
        A record is not as `ChunkRecord.write` writes it; the message names its file and row.
    """
    starts = []
    for file in folder.names(f"{job}/chunks"):
        name = f"{job}/chunks/{file}"
        rows = _read(folder, name) if name.endswith(".json") else []
        if rows:
            starts.append((min(map(_place, rows)), name))
    starts.sort()

    # Records overlap: rows wait until no record that is still to be read can come before them.
    waiting: list[tuple[tuple[int, int], str, int, Row]] = []
    latest = None

    for record, (_, name) in enumerate(starts):
        for number, row in enumerate(_read(folder, name)):
            heappush(waiting, (_place(row), name, number, row))
        is_last = record + 1 == len(starts)

        while waiting and (is_last or waiting[0][0] < starts[record + 1][0]):
            place, *_, row = heappop(waiting)
            if place != latest:
                yield row
            latest = place


def _read(folder: OutputFolder, name: str) -> list[Row]:
    """Read a record, of which each row has at least its place, verdict and settings."""
    remedy = "Delete the file and retry its job, which makes these images again."
    try:
        rows: Any = json.loads(folder.read(name))
    except ValueError as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else None
        raise InputError(name, where, "it is not JSON", remedy) from error
    if not isinstance(rows, list):
        raise InputError(name, None, "it is no list of candidates", remedy)

    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(name, f"row {number}", "it is no object", remedy)
        if missing := sorted(_NEEDED.difference(row)):
            raise InputError(name, f"row {number}", f"it has no {', '.join(missing)}", remedy)
    return rows


def _place(row: Row) -> tuple[int, int]:
    return row["query"], row["index"]


_TEXTS = ("candidate", "group", "source", "source_class")
_VECTORS = ("vector", "source_vector")


def write_vectors(
    folder: OutputFolder, job: str, chunk: str, images: Iterable[Mapping[str, EmbeddedImage]]
) -> None:
    """Write the vectors of a chunk's images by filter; no file if empty."""
    by_filter = group_pairs(pair for of_image in images for pair in of_image.items())
    if not by_filter:
        return
    arrays: dict[str, Any] = {}
    for name, embedded in by_filter.items():
        # Texts as bytes of JSON: arrays of strings would need pickles to be read.
        texts = list(map(attrgetter(*_TEXTS), embedded))
        arrays[f"{name}.texts"] = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
        for vector in _VECTORS:
            values = map(attrgetter(vector), embedded)
            arrays[f"{name}.{vector}"] = np.array(list(values), dtype=np.float32)

    out = BytesIO()
    np.savez(out, **arrays)
    folder.write(f"{job}/chunks/{chunk}.npz", out.getvalue())


def read_vectors(folder: OutputFolder, job: str, filter_name: str) -> Iterator[EmbeddedImage]:
    """Read the vectors that a filter gave a job's images, each image once, chunk by chunk."""
    seen: set[str] = set()
    for name in folder.names(f"{job}/chunks"):
        if not name.endswith(".npz"):
            continue
        data = BytesIO(folder.read(f"{job}/chunks/{name}"))
        with np.load(data, allow_pickle=False) as arrays:
            if f"{filter_name}.texts" not in arrays:
                continue
            texts = json.loads(arrays[f"{filter_name}.texts"].tobytes())
            vectors, source_vectors = (arrays[f"{filter_name}.{vector}"] for vector in _VECTORS)

        for row, (candidate, group, source, source_class) in enumerate(texts):
            if candidate not in seen:
                seen.add(candidate)
                yield EmbeddedImage(
                    candidate, group, vectors[row], source, source_class, source_vectors[row]
                )
