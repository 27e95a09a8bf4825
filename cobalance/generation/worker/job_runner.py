"""Generate and judge a job's images: sources, then the backend, then the filters."""

import time
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cobalance.base import PlannedQuery
from cobalance.generation.backends.backend import Backend
from cobalance.generation.filters.filter import Filter, Judgement
from cobalance.generation.filters.pool import EmbeddedImage
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    NoSourceError,
    seed_of,
)
from cobalance.generation.jobs.chunks import Chunk, candidate_id
from cobalance.generation.jobs.patches import needs_patch
from cobalance.generation.jobs.rounds import NOT_GENERATED
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.jobs.variants import Variant
from cobalance.generation.output.image_files import JudgedImage
from cobalance.generation.output.manifest_rows import Row, judge_row, new_row
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.sampler import Sources
from cobalance.generation.worker.job_account import JobAccount
from cobalance.generation.worker.source_picker import SourcePicker

# A query fails after so many images in a row that failed for one reason.
_REPEATS = 4


class QueryFailures:
    """Counts failures per query; for any number of threads.

    Queries are known by their positions in the job.
    """

    def __init__(self) -> None:
        self._repeats: dict[int, tuple[str, int]] = {}
        self._failed: dict[int, str] = {}
        self._taken: set[int] = set()

    def count(self, query: int, reason: str) -> int:
        """Count a failure; give how many in a row the query has had for this reason."""
        previous, times = self._repeats.get(query, (reason, 0))
        self._repeats[query] = reason, times + 1 if previous == reason else 1
        return self._repeats[query][1]

    def record(self, query: int, reason: str) -> bool:
        """Count a failure; mark the query as blocked, and say so, after several in a row."""
        if self.count(query, reason) < _REPEATS:
            return False

        message = (
            f"{_REPEATS} images in a row could not be generated, for the same reason: "
            f"{reason.rstrip('.')}. Put that right, then retry the job."
        )
        self.fail([query], message)
        return True

    def reset(self, queries: Iterable[int]) -> None:
        """Forget the failures in a row of queries that have succeeded."""
        for query in queries:
            self._repeats.pop(query, None)

    def fail(self, queries: Iterable[int], message: str) -> None:
        """Mark queries as blocked until a person follows the message."""
        for query in queries:
            self._failed.setdefault(query, message)

    def take(self) -> dict[str, list[int]]:
        """Give the queries that cannot go on by message; each query is given once."""
        queries_of: dict[str, list[int]] = {}
        # A copy: other threads may add failures meanwhile.
        for query, message in list(self._failed.items()):
            if query not in self._taken:
                self._taken.add(query)
                queries_of.setdefault(message, []).append(query)
        return queries_of


@dataclass(eq=False)
class JobRunner:
    """A job's backend, filters and sources, opened; runs its chunks.

    Parameters
    ----------
    queries : mapping of int to PlannedQuery
        The job's, by position.
    filters : mapping of str to Filter
        Judge them, in order.
    sources : Sources or None
        The dataset's images; None where it has no image files.
    device : context manager
        Held while backend and filters compute; other threads may read and write files meanwhile.
    account : JobAccount or None
        Of a backend whose images cost something.
    """

    job: str
    settings: JobSettings
    queries: Mapping[int, PlannedQuery]
    backend: Backend
    filters: Mapping[str, Filter]
    sources: Sources | None
    device: AbstractContextManager[Any]
    account: JobAccount | None = None
    failures: QueryFailures = field(default_factory=QueryFailures, init=False, repr=False)

    def __post_init__(self) -> None:
        required = self.backend.needs_source or self.settings.masks != MaskSettings()
        self._picker = SourcePicker(self.sources, required=required, backend=self.settings.backend)

    def run(self, chunk: Chunk) -> list[JudgedImage]:
        """Generate and judge a chunk's images, in the chunk's order.

        A candidate that has no source, or that the backend alone failed at, is rejected without an
        image.

        Raises
        ------
        OutOfMemoryError
            The chunk is too large for the device.
        NoSourceError
            No class of the chunk has a source. Their queries are noted in `failures`.
        GenerationError
            Some image cannot be generated; which one is unknown.
        """
        items = dict(zip(chunk.candidates(), chunk.items, strict=True))
        requests, rejected = self.requests(chunk)
        results, judgements, seconds = self._generate(requests)

        judged = {candidate: JudgedImage(row, None) for candidate, row in rejected.items()}
        self.failures.reset(items[candidate][0] for candidate in rejected)
        for request, result, by_filter in zip(requests, results, judgements, strict=True):
            item = items[request.id]
            if isinstance(result, GenerationError):
                self.failures.record(item[0], str(result))
                row = self._reject(item, chunk, NOT_GENERATED + str(result))
                judged[request.id] = JudgedImage(row, None)
                continue

            self.failures.reset([item[0]])
            why = self._picker.why_painted(request.class_name) if request.source is None else ""
            row = judge_row(self._row(request, chunk, why), result, by_filter)
            row |= {"seconds": seconds / len(requests)}
            judged[request.id] = JudgedImage(row, result, _embed(request, by_filter))
        return [judged[candidate] for candidate in items]

    def reject(self, chunk: Chunk, reason: str) -> list[Row]:
        """Give rows for a chunk whose images cannot be generated."""
        return [self._reject(item, chunk, reason) for item in chunk.items]

    def requests(self, chunk: Chunk) -> tuple[list[ImageRequest], dict[str, Row]]:
        """The chunk's requests, and rows by candidate for those without a source.

        Raises
        ------
        NoSourceError
            No class of the chunk has a source. Their queries are noted in `failures`.
        """
        requests, rejected = [], {}
        for item in chunk.items:
            try:
                requests.append(self._request(item, with_source=True))
            except GenerationError as error:
                rejected[candidate_id(self.job, *item)] = self._reject(item, chunk, str(error))
        if rejected and self._picker.required:
            self._check_classes(chunk, any_left=bool(requests))
        return requests, rejected

    def _check_classes(self, chunk: Chunk, *, any_left: bool) -> None:
        """Fail the queries of classes without a source; raise where the chunk has no others.

        Queries that edit an image are left alone: each has its own.
        """
        queries = [self.queries[query] for query, _ in chunk.items]
        # An image to edit that cannot be used says nothing of its class.
        if any(query.edit is not None for query in queries):
            return
        missing = {query.class_name: self._picker.missing(query.class_name) for query in queries}
        for position, query in self.queries.items():
            reason = missing.get(query.class_name)
            if reason is not None:
                self.failures.fail([position], reason.message)

        reasons = [reason for reason in missing.values() if reason is not None]
        if len(reasons) == len(missing) and not any_left:
            raise NoSourceError(*reasons[0])

    def _request(self, item: tuple[int, int], *, with_source: bool) -> ImageRequest:
        """The request for a candidate; without a source for the row of a rejected one."""
        settings, query = self.settings, self.queries[item[0]]
        class_name, edit = query.class_name, query.edit
        seed = seed_of(settings.seed or self.job, *item)
        variants = settings.variants or (Variant(),)
        number = item[1] % len(variants)
        variant = variants[number]

        source, source_class, patch = None, None, None
        if with_source and edit is None:
            source = self._picker.pick(
                class_name, seed, query.sources, of_any_class=settings.keeps_scene
            )
        elif with_source and edit is not None:
            source, source_class = self._picker.take(edit.source_image, seed)
        if source is not None and needs_patch(settings.backend):
            patch = self._picker.patch(class_name, seed, without=source.image_id)

        return ImageRequest(
            candidate_id(self.job, *item),
            class_name,
            query.concepts,
            settings.prompt_of(query, variant),
            seed,
            source,
            source_class=source_class,
            caption="" if edit is None else edit.caption,
            captions=() if edit is None else edit.captions,
            variant=number,
            guidance_scale=variant.guidance_scale,
            image_guidance_scale=variant.image_guidance_scale,
            patch=patch,
        )

    def _generate(
        self, requests: Sequence[ImageRequest]
    ) -> tuple[Sequence[GeneratedImage | GenerationError], list[dict[str, Judgement]], float]:
        """Images or errors, the judgements of each by filter, and the seconds that all took."""
        if not requests:
            return [], [], 0.0

        by_request: list[dict[str, Judgement]] = [{} for _ in requests]
        with self.device:
            started = time.perf_counter()
            results = self.backend.generate(requests)
            images = {
                position: result
                for position, result in enumerate(results)
                if isinstance(result, GeneratedImage)
            }
            judged_requests = [requests[position] for position in images]
            for name, judge in self.filters.items():
                judgements = judge.judge(judged_requests, list(images.values()))
                for position, judgement in zip(images, judgements, strict=True):
                    by_request[position][name] = judgement
            seconds = time.perf_counter() - started
        return results, by_request, seconds

    def _row(self, request: ImageRequest, chunk: Chunk, why_painted: str = "") -> Row:
        return new_row(
            request,
            job=self.job,
            chunk=chunk.id,
            chunk_items=chunk.candidates(),
            backend=self._description,
            without_source=why_painted,
            variant=request.variant if self.settings.variants else None,
        )

    def _reject(self, item: tuple[int, int], chunk: Chunk, reason: str) -> Row:
        row = self._row(self._request(item, with_source=False), chunk)
        return row | {"verdict": "rejected", "reason": reason, "seconds": 0.0}

    @cached_property
    def _description(self) -> dict[str, Any]:
        """Description of backend, filters and segmenter, for `new_row`."""
        about = dict(self.backend.describe())
        filters = {name: dict(judge.describe()) for name, judge in self.filters.items()}
        segmenter = dict((self.sources and self.sources.masks.segmented_by) or {})
        packages = [part.pop("software", {}) for part in (*filters.values(), segmenter)]
        about["software"] = dict(ChainMap(about.get("software", {}), *packages))
        about["consent"] = self.settings.consent or None
        return about | {"filters": filters, "segmenter": segmenter or None}


def _embed(request: ImageRequest, by_filter: Mapping[str, Judgement]) -> dict[str, EmbeddedImage]:
    """The vectors that filters have given an image and its source, by filter."""
    if request.source is None:
        return {}
    return {
        name: EmbeddedImage(
            request.id,
            request.class_name,
            judgement.vectors["image"],
            request.source.image_id,
            request.source_class or request.class_name,
            judgement.vectors["source"],
        )
        for name, judgement in by_filter.items()
        if {"image", "source"} <= set(judgement.vectors)
    }
