"""Execute one chunk: generate, save, report; retry, halve or skip it on failure."""

import contextlib
import logging
from functools import partial

from cobalance.base import (
    CobalanceError,
    JobBlockedError,
    NotFoundError,
    OutOfMemoryError,
    StoreUnavailableError,
    log_run,
)
from cobalance.generation.image_request import NoSourceError
from cobalance.generation.jobs import rounds
from cobalance.generation.jobs.chunks import Chunk
from cobalance.generation.jobs.job_queue import ChunkResult
from cobalance.generation.output.chunk_records import ChunkRecord, write_vectors
from cobalance.generation.output.image_files import save_images
from cobalance.generation.output.manifest_rows import Row
from cobalance.generation.worker.job_runner import JobRunner
from cobalance.generation.worker.job_supervisor import FAILS_A_JOB, fail
from cobalance.generation.worker.resources import RetryingStore, WorkerResources, WorkerStopped
from cobalance.generation.worker.runner_slot import RunnerSlot
from cobalance.graph import fail_queries, query_id, start_queries

_log = logging.getLogger(__name__)

# A chunk that fails is halved after so many tries.
_TRIES = 2
# A chunk that ends its worker each time is halved after so many starts.
_STARTS = 4


class _ChunkFailedError(Exception):
    """A chunk cannot be generated as a whole."""


class ChunkExecutor:
    """Executes chunks, in any number of threads.

    Attributes
    ----------
    job : str or None
        The job of the chunk that was started last.
    """

    def __init__(
        self, store: RetryingStore, resources: WorkerResources, runners: RunnerSlot
    ) -> None:
        self._store, self._resources, self._runners = store, resources, runners
        self.job: str | None = None

    @log_run
    def execute(self, chunk: Chunk, attempt: int) -> ChunkResult:
        """Execute a chunk for an attempt of its job; a job that cannot go on fails."""
        try:
            queries = list(dict.fromkeys(query_id(chunk.job, query) for query, _ in chunk.items))
            start = partial(start_queries, job=chunk.job, attempt=attempt, queries=queries)
            dataset = self._store.run(start)
            # The attempt is no longer wanted.
            if dataset is None:
                return "skipped"
            self.job = chunk.job
            return self._execute(chunk, attempt, dataset)
        except FAILS_A_JOB as error:
            fail(self._store, chunk.job, error)
            return "skipped"
        except NotFoundError:
            return "skipped"

    def _execute(self, chunk: Chunk, attempt: int, dataset: str) -> ChunkResult:
        """Generate a chunk unless that is done, and report its candidates to the graph."""
        record = self._record(chunk)
        # A worker that died before it reported may have finished it.
        rows = record.read()
        if rows is None:
            # It was halved in an earlier attempt of the job.
            if any(self._record(half).was_started() for half in chunk.halves()):
                return "halved"
            with self._runners.use(chunk.job, attempt, dataset) as runner:
                try:
                    rows = self._generate(runner, chunk, record)
                except _ChunkFailedError:
                    return "halved"
                except NoSourceError:
                    return "skipped"
                finally:
                    self._fail_queries(runner, attempt)
            if rows is None:
                return "skipped"
            record.clear_starts()

        self._store.run(partial(rounds.report_chunk, job=chunk.job, rows=rows))
        return "done"

    def _record(self, chunk: Chunk) -> ChunkRecord:
        return ChunkRecord(self._resources.folder, chunk.job, chunk.id)

    def _generate(self, runner: JobRunner, chunk: Chunk, record: ChunkRecord) -> list[Row] | None:
        """Generate and save a chunk; None for a single image whose query fails."""
        try:
            return self._try(runner, chunk, record)
        except (NoSourceError, JobBlockedError, StoreUnavailableError, WorkerStopped):
            with contextlib.suppress(CobalanceError):
                # The chunk is not to blame.
                record.clear_starts()
            raise
        except _ChunkFailedError as error:
            if len(chunk.items) > 1:
                raise
            reason = str(error)
        ((query, _),) = chunk.items
        if runner.failures.record(query, reason):
            record.clear_starts()
            return None

        rows = runner.reject(chunk, rounds.NOT_GENERATED + reason)
        record.write(rows)
        return rows

    def _try(self, runner: JobRunner, chunk: Chunk, record: ChunkRecord) -> list[Row]:
        reason = "Each attempt to generate it ended its worker."
        if record.count_start() < _STARTS:
            for _ in range(_TRIES):
                try:
                    rows = self._run(runner, chunk, record)
                except OutOfMemoryError as error:
                    reason = str(error)
                    break
                except (NoSourceError, JobBlockedError, StoreUnavailableError, WorkerStopped):
                    raise
                except Exception as error:  # noqa: BLE001 - stored with the job's candidates
                    _log.warning("chunk %s/%s", chunk.job, chunk.id, exc_info=True)
                    reason = str(error) or type(error).__name__
                else:
                    return rows
        raise _ChunkFailedError(reason)

    def _run(self, runner: JobRunner, chunk: Chunk, record: ChunkRecord) -> list[Row]:
        """Generate a chunk's images, then write image files and the record."""
        images = runner.run(chunk)

        # Another worker that took this one for dead may have finished it.
        rows = record.read()
        if rows is None:
            settings, folder = runner.settings, self._resources.folder
            write_vectors(folder, chunk.job, chunk.id, (image.embedded for image in images))
            rows = save_images(
                folder, images, settings.image_format, keep_rejected=settings.keep_rejected
            )
            record.write(rows)
        if runner.account is not None:
            runner.account.forget(chunk.candidates())
        return rows

    def _fail_queries(self, runner: JobRunner, attempt: int) -> None:
        """Report the queries that cannot go on; the job's others do."""
        for message, positions in runner.failures.take().items():
            report = partial(
                fail_queries,
                job=runner.job,
                attempt=attempt,
                queries=[query_id(runner.job, position) for position in positions],
                message=message,
            )
            self._store.run(report)
