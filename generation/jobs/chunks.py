"""The images that are made together: a job's round cut into chunks, and a chunk made into files."""

import json
import logging
import time
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from generation.backends.backend import Backend
from generation.filters.filter import Filter, Judgement
from generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    NoSourceError,
    SourceImage,
    seed_of,
)
from generation.jobs.settings import JobSettings
from generation.output.folder import OutputFolder, OutputMissingError
from generation.output.provenance import Format, image_file, judged, mask_file, row_of, sha256
from generation.sources.sampler import MaskSettings, Sources
from graph.jobs.lifecycle import query_id
from graph.jobs.rounds import Round
from ingest.models.prompts import prompt_for

_log = logging.getLogger(__name__)

Row = dict[str, Any]
"""A row of the manifest, see `generation.output.manifest`."""


@dataclass(frozen=True)
class Chunk:
    """Images of a job that are made together.

    Parameters
    ----------
    job : str
        The job's id.
    id : str
        Within the job: its round and its number, and after a failure which half of it.
    items : tuple of (int, int)
        For each image its query's position in the job and its number among the query's.
    """

    job: str
    id: str
    items: tuple[tuple[int, int], ...]

    def halves(self) -> tuple["Chunk", ...]:
        """Cut it in two; nothing for a single image.

        Examples
        --------
        >>> [half.id for half in Chunk("5f1c", "000-000003", ((0, 0), (0, 1), (1, 0))).halves()]
        ['000-000003.0', '000-000003.1']
        """
        middle = (len(self.items) + 1) // 2
        if len(self.items) < 2:
            return ()
        return (
            Chunk(self.job, f"{self.id}.0", self.items[:middle]),
            Chunk(self.job, f"{self.id}.1", self.items[middle:]),
        )

    def candidates(self) -> list[str]:
        """The ids of its candidates."""
        return [candidate_id(self.job, query, index) for query, index in self.items]

    def record_name(self) -> str:
        """The file that says what became of it, in the output folder; whole when all of it is."""
        return f"{self.job}/chunks/{self.id}.json"

    def starts_name(self) -> str:
        """The file that counts how often it was begun, while it is not done."""
        return f"{self.job}/chunks/{self.id}.starts"


def candidate_id(job: str, query: int, index: int) -> str:
    """The id of a candidate.

    Examples
    --------
    >>> candidate_id("5f1c", 16, 3)
    '5f1c/000016/000003'
    """
    return f"{query_id(job, query)}/{index:06d}"


def chunks_of(job: str, of: Round, size: int) -> list[Chunk]:
    """Cut a round into chunks: its images in order, `size` to a chunk.

    Examples
    --------
    >>> from graph.jobs.rounds import Span
    >>> for chunk in chunks_of("5f1c", Round(0, 0, (Span(0, 0, 3), Span(1, 0, 1))), 2):
    ...     print(chunk.id, chunk.items)
    000-000000 ((0, 0), (0, 1))
    000-000001 ((0, 2), (1, 0))
    """
    items = [
        (span.query, index)
        for span in of.spans
        for index in range(span.first, span.first + span.count)
    ]
    return [
        Chunk(job, f"{of.number:03d}-{number:06d}", tuple(items[start : start + size]))
        for number, start in enumerate(range(0, len(items), size))
    ]


class NoSource(NamedTuple):
    """Why no image of a class can be used: for people, and in brief for provenance."""

    message: str
    brief: str


_UNLUCKY = NoSource("", "None of the images that were tried for it can be used.")


@dataclass(frozen=True, eq=False)
class JobRunner:
    """All that it takes to make a job's images, opened.

    Parameters
    ----------
    job : str
        The job's id.
    settings : JobSettings
        The job's.
    queries : mapping of int to (str, tuple of str)
        Class and concepts of each query, by position.
    backend : Backend
        What makes the images.
    filters : mapping of str to Filter
        What judges them, in order.
    sources : Sources or None
        Where objects come from; None where the dataset has no image files, and none are needed.
    device : context manager
        Held while backend and filters compute; whoever else waits may read and write files.
    """

    job: str
    settings: JobSettings
    queries: Mapping[int, tuple[str, tuple[str, ...]]]
    backend: Backend
    filters: Mapping[str, Filter]
    sources: Sources | None
    device: AbstractContextManager[Any]
    _without: dict[str, NoSource | None] = field(default_factory=dict, init=False, repr=False)
    _failed: dict[int, tuple[str, int]] = field(default_factory=dict, init=False, repr=False)
    _blocked: dict[int, str] = field(default_factory=dict, init=False, repr=False)

    def make(self, chunk: Chunk, folder: OutputFolder) -> list[Row]:
        """Make a chunk's images, judge them, and write files; all or nothing of it counts.

        Raises
        ------
        OutOfMemoryError
            The chunk is too large for the device.
        JobBlockedError
            The output folder cannot be written to.
        NoSourceError
            No image of the chunk has a source, for want of any of its class.
        GenerationError
            Some image cannot be made, and there is no telling which.
        """
        requests, failed = self._requests(chunk)
        if failed and not requests:
            self._check_sources(chunk)
        made, found, seconds = self._made(requests)
        done = read_record(folder, chunk)  # by another, while this one was taken for dead
        if done is not None:
            return done
        rows: dict[str, Row] = dict(failed)
        for request, image, judgements in zip(requests, made, found, strict=True):
            row = self._row(request, chunk, painted=request.source is None)
            row["seconds"] = seconds / len(requests)
            rows[request.id] = self._write(judged(row, image, judgements), image, folder)
        in_order = [rows[candidate] for candidate in chunk.candidates()]
        write_record(folder, chunk, in_order)
        return in_order

    def take_blocked(self) -> dict[str, list[int]]:
        """Give the queries that were blocked since this was asked last, by the reason."""
        found: dict[str, list[int]] = {}
        for query in list(self._blocked):
            why = self._blocked.pop(query, None)
            if why is not None:  # another thread has not taken it
                found.setdefault(why, []).append(query)
        return found

    def block(self, chunk: Chunk, why: str) -> None:
        """Note that a chunk's queries cannot go on until a person has done what a message says."""
        self._blocked.update((query, why) for query, _ in chunk.items)

    def count_made(self, chunk: Chunk) -> None:
        """Note that a chunk was made: its queries begin anew with failing."""
        for query, _ in chunk.items:
            self._failed.pop(query, None)

    def count_failed(self, chunk: Chunk, reason: str) -> int:
        """Count a chunk of one image that failed: how many of its query in a row did so alike."""
        ((query, _),) = chunk.items
        before, times = self._failed.get(query, (reason, 0))
        self._failed[query] = reason, times + 1 if before == reason else 1
        return self._failed[query][1]

    def failure(self, chunk: Chunk, reason: str) -> list[Row]:
        """Give rows for images that cannot be made: rejected, without files."""
        return [
            self._row(self._request(*item, with_source=False), chunk) | _failed(reason)
            for item in chunk.items
        ]

    def _requests(self, chunk: Chunk) -> tuple[list[ImageRequest], dict[str, Row]]:
        """The requests of a chunk, and rows for those that have no source."""
        requests, failed = [], {}
        for item in chunk.items:
            try:
                requests.append(self._request(*item))
            except GenerationError as error:
                candidate = candidate_id(self.job, *item)
                single = Chunk(chunk.job, chunk.id, (item,))
                (failed[candidate],) = self.failure(single, str(error))
        return requests, failed

    def _request(self, query: int, index: int, *, with_source: bool = True) -> ImageRequest:
        class_name, concepts = self.queries[query]
        seed = seed_of(self.settings.seed or self.job, query, index)
        prompt = prompt_for(
            concepts, self.settings.prompt, backend=self.settings.backend, class_name=class_name
        )
        source = self._source(class_name, seed) if with_source else None
        identity = candidate_id(self.job, query, index)
        return ImageRequest(identity, class_name, concepts, prompt, seed, source)

    @property
    def _needs_source(self) -> bool:
        """Whether no object may be painted: the backend cannot, or masks are asked for."""
        return self.backend.needs_source or self.settings.masks != MaskSettings()

    def _source(self, class_name: str, seed: int) -> SourceImage | None:
        without = self._without_source(class_name)
        if without is None and self.sources is not None:
            try:
                return self.sources.sample(class_name, seed)
            except NoSourceError:
                if self._needs_source:
                    raise
        elif without is not None and self._needs_source:
            raise NoSourceError(without.message, without.brief)
        return None

    def _without_source(self, class_name: str) -> NoSource | None:
        """Why no image of a class can be used; None where one can. The same in every process."""
        if class_name not in self._without:
            found = self._without[class_name] = self._look_for_source(class_name)
            if found is None:
                return None
            if self._needs_source:
                self._blocked.update(
                    (query, found.message)
                    for query, (wanted, _) in self.queries.items()
                    if wanted == class_name
                )
            elif self.sources is not None:
                _log.warning("%s Until then its objects are painted.", found.message)
        return self._without[class_name]

    def _look_for_source(self, class_name: str) -> NoSource | None:
        if self.sources is None:
            message = (
                f"The backend {self.settings.backend} takes the object from an image of class "
                f"{class_name!r}, and the dataset names no image files. Ingest it with them."
            )
            return NoSource(message, "")
        try:
            self.sources.sample(class_name, 0)
        except NoSourceError as error:  # which itself would keep what it was raised from in memory
            return NoSource(str(error), error.brief)
        return None

    def _check_sources(self, chunk: Chunk) -> None:
        """Raise where all images of a chunk are of classes without a source."""
        found = [self._without_source(self.queries[query][0]) for query, _ in chunk.items]
        if found[0] is not None and None not in found:
            raise NoSourceError(*found[0])

    def _made(
        self, requests: Sequence[ImageRequest]
    ) -> tuple[list[GeneratedImage], list[dict[str, Judgement]], float]:
        if not requests:
            return [], [], 0.0
        with self.device:
            started = time.perf_counter()
            made = self.backend.generate(requests)
            by_filter = {name: judge.judge(requests, made) for name, judge in self.filters.items()}
            seconds = time.perf_counter() - started
        found = [
            {name: judgements[at] for name, judgements in by_filter.items()}
            for at in range(len(requests))
        ]
        return made, found, seconds

    def _row(self, request: ImageRequest, chunk: Chunk, *, painted: bool = False) -> Row:
        without = self._without.get(request.class_name) or _UNLUCKY
        return row_of(
            request,
            job=self.job,
            chunk=chunk.id,
            chunk_items=chunk.candidates(),
            backend=self._made_with,
            without_source=without.brief if painted and self.sources is not None else "",
        )

    @cached_property
    def _made_with(self) -> dict[str, Any]:
        """The backend's description with those of filters and segmenter, as `row_of` takes it."""
        about = dict(self.backend.describe())
        filters = {name: dict(judge.describe()) for name, judge in self.filters.items()}
        segmenter = dict((self.sources and self.sources.segmented_by) or {})
        packages = [part.pop("software", {}) for part in (*filters.values(), segmenter)]
        about["software"] = dict(ChainMap(about.get("software", {}), *packages))
        return about | {"filters": filters, "segmenter": segmenter or None}

    def _write(self, row: Row, made: GeneratedImage, folder: OutputFolder) -> Row:
        if row["verdict"] == "rejected" and not self.settings.keep_rejected:
            return row
        form: Format = self.settings.image_format
        name = f"{row['query']:06d}-{row['index']:06d}"
        data = image_file(made.image, row, form)
        path = f"{self.job}/images/{name}.{'png' if form == 'png' else 'jpg'}"
        folder.write(path, data)
        row |= {"path": path, "sha256": sha256(data)}
        if made.mask is not None:
            row["mask_path"] = f"{self.job}/masks/{name}.png"
            folder.write(row["mask_path"], mask_file(made.mask))
        return row


def write_record(folder: OutputFolder, chunk: Chunk, rows: Sequence[Row]) -> None:
    """Write down what became of a chunk: from then on it is done."""
    text = json.dumps(list(rows), ensure_ascii=False, sort_keys=True, indent=0)
    folder.write(chunk.record_name(), text.encode())


def read_record(folder: OutputFolder, chunk: Chunk) -> list[Row] | None:
    """Read what became of a chunk; None for one that is not done."""
    try:
        rows: list[Row] = json.loads(folder.read(chunk.record_name()))
    except OutputMissingError:
        return None
    return rows


def count_start(folder: OutputFolder, chunk: Chunk) -> int:
    """Count that a chunk is begun, and give how often it was before; kept until it is done."""
    try:
        before = int(folder.read(chunk.starts_name()) or b"0")
    except (OutputMissingError, ValueError):
        before = 0
    folder.write(chunk.starts_name(), str(before + 1).encode())
    return before


def _failed(reason: str) -> Row:
    return {"verdict": "rejected", "reason": reason, "seconds": 0.0}
