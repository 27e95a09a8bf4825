"""A chunk from the queue: made, written and reported, by what stays open for its job."""

import contextlib
import gc
import logging
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from generation.backends import BACKENDS
from generation.backends.backend import Backend
from generation.filters import FILTERS
from generation.image_request import NoSourceError
from generation.jobs import rounds
from generation.jobs.chunk_queue import Outcome
from generation.jobs.chunks import Chunk, JobRunner, Row, count_start, read_record, write_record
from generation.jobs.resources import RetryingStore, WorkerResources, WorkerStopped
from generation.jobs.supervision import fail
from graph.database.store import GraphStore
from graph.dataset.state import concept_names
from graph.errors import (
    CobalanceError,
    JobBlockedError,
    JobNotFoundError,
    MissingExtraError,
    OptionError,
    OutOfMemoryError,
    StoreUnavailableError,
)
from graph.jobs.lifecycle import query_id
from graph.jobs.reports import fail_queries, start_queries
from graph.jobs.rounds import read_query_progress

_log = logging.getLogger(__name__)

_TRIES = 2  # of a chunk that fails; then it is halved
_STARTS = 4  # of a chunk that ends its worker each time; then it is halved
_ALIKE = 4  # images of a query in a row that fail for one reason; then the query does


class ChunkExecutor:
    """Makes chunks, in any number of threads.

    Parameters
    ----------
    reach : RetryingStore
        The graph.
    places : WorkerResources
        What else it reaches.

    Attributes
    ----------
    job : str or None
        The job of the chunk that was begun last.
    """

    def __init__(self, reach: RetryingStore, places: WorkerResources) -> None:
        self._reach, self._places = reach, places
        self.job: str | None = None
        self._device = threading.Lock()
        self._opening = threading.Condition()
        self._studio: JobRunner | None = None
        self._opened_for, self._users = ("", 0, ""), 0
        self._opened_as: tuple[str, str] | None = None

    def make(self, chunk: Chunk, attempt: int) -> Outcome:
        """Make a chunk and report it, or leave it, or say that it is to be halved."""
        try:
            dataset = self._reach(lambda store: _start(store, chunk, attempt))
            if dataset is None:
                return "left"
            self.job = chunk.job
            return self._make_for(chunk, attempt, dataset)
        except (JobBlockedError, OptionError, MissingExtraError, OutOfMemoryError) as error:
            fail(self._reach, chunk.job, error)
            return "left"
        except JobNotFoundError:
            return "left"

    def _make_for(self, chunk: Chunk, attempt: int, dataset: str) -> Outcome:
        folder = self._places.folder
        rows = read_record(folder, chunk)
        if rows is None:
            if self._was_halved(chunk):
                return "halved"
            with self._opened(chunk.job, attempt, dataset) as studio:
                try:
                    made = self._try(studio, chunk)
                finally:
                    self._fail_queries(studio, attempt)
            if isinstance(made, str):
                return made
            rows = made
            folder.delete(chunk.starts_name())
        reported = rows
        self._reach(lambda store: rounds.report(store, chunk, reported))
        return "done"

    def _fail_queries(self, studio: JobRunner, attempt: int) -> None:
        """Fail queries that cannot go on; the others do."""
        for why, positions in studio.take_blocked().items():
            fail_these = partial(
                fail_queries,
                job=studio.job,
                attempt=attempt,
                queries=[query_id(studio.job, position) for position in positions],
                message=why,
            )
            self._reach(fail_these)

    def _was_halved(self, chunk: Chunk) -> bool:
        """Whether this chunk was given up before, in an earlier attempt of the job."""
        folder = self._places.folder
        return any(
            folder.exists(half.record_name()) or folder.exists(half.starts_name())
            for half in chunk.halves()
        )

    def _try(self, studio: JobRunner, chunk: Chunk) -> list[Row] | Outcome:
        """Make a chunk; say so where it should be halved, or none of its queries can go on."""
        folder = self._places.folder
        reason = "Making it ended its worker each time."
        try:
            if count_start(folder, chunk) < _STARTS:
                for _ in range(_TRIES):
                    try:
                        rows = studio.make(chunk, folder)
                    except OutOfMemoryError as error:
                        reason = str(error)
                        break
                    except (NoSourceError, JobBlockedError, StoreUnavailableError, WorkerStopped):
                        raise
                    except Exception as error:  # noqa: BLE001 - stored with the job's candidates
                        _log.warning("chunk %s/%s", chunk.job, chunk.id, exc_info=True)
                        reason = str(error) or type(error).__name__
                    else:
                        studio.count_made(chunk)
                        return rows
            if len(chunk.items) > 1:
                return "halved"
            if studio.count_failed(chunk, reason) >= _ALIKE:
                studio.block(chunk, _alike(reason))
                folder.delete(chunk.starts_name())
                return "left"
        except (NoSourceError, JobBlockedError, StoreUnavailableError, WorkerStopped) as error:
            with contextlib.suppress(CobalanceError):
                folder.delete(chunk.starts_name())  # the chunk is not to blame
            if isinstance(error, NoSourceError):
                return "left"
            raise
        rows = studio.failure(chunk, f"It could not be made: {reason}")
        write_record(folder, chunk, rows)
        return rows

    @contextlib.contextmanager
    def _opened(self, job: str, attempt: int, dataset: str) -> Iterator[JobRunner]:
        """Give what makes a job's images; the last one opened stays open.

        While one is in use no other is opened: the device has memory for one model. A job that was
        queued again is opened anew, and one whose dataset got another name: its objects come from
        what is there now.
        """
        wanted = (job, attempt, dataset)
        with self._opening:
            while self._users and self._opened_for != wanted:
                self._opening.wait()
            if self._studio is None or self._opened_for != wanted:
                self._studio = self._open(job, dataset)
                self._opened_for = wanted
            studio = self._studio
            self._users += 1
        try:
            yield studio
        finally:
            del studio
            with self._opening:
                self._users -= 1
                self._opening.notify_all()

    def _open(self, job: str, dataset: str) -> JobRunner:
        settings = self._reach.settings_of(job)
        kept = self._studio.backend if self._studio is not None else None
        self._studio = None  # its memory is needed for the next
        opened_as = (settings.backend, settings.making.model_dump_json())
        backend: Backend
        if kept is not None and opened_as == self._opened_as:
            backend = kept
        else:
            kept = None
            gc.collect()  # past errors hold frames, and these the last one
            backend = BACKENDS.open(settings.backend, settings.making)
        filters = {
            name: FILTERS.open(name, self._with_vocabulary(name, options, dataset))
            for name, options in settings.filter_options().items()
        }
        queries = {
            query.position: (query.class_name, query.concepts)
            for query in self._reach(lambda store: read_query_progress(store, job))
        }
        sources = self._reach(lambda store: self._places.open_sources(store, dataset, settings))
        self._opened_as = opened_as
        return JobRunner(job, settings, queries, backend, filters, sources, self._device)

    def _with_vocabulary(
        self, name: str, options: Mapping[str, Any], dataset: str
    ) -> Mapping[str, Any]:
        """Have the filter that looks for objects know what else the dataset could show."""
        if name != "objects" or "vocabulary" in options:
            return options
        return {**options, "vocabulary": self._reach(partial(concept_names, dataset=dataset))}


def _start(store: GraphStore, chunk: Chunk, attempt: int) -> str | None:
    queries = dict.fromkeys(query_id(chunk.job, query) for query, _ in chunk.items)
    return start_queries(store, chunk.job, attempt, list(queries))


def _alike(reason: str) -> str:
    return (
        f"{_ALIKE} images in a row could not be made, for the same reason: {reason.rstrip('.')}. "
        "Put that right, then retry the job."
    )
