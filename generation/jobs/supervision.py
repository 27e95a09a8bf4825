"""What every worker sees to: that jobs get on and end, and that the chunks of the dead are made."""

import contextlib
import time
from collections.abc import Mapping

from generation.jobs import rounds
from generation.jobs.chunk_queue import Queue
from generation.jobs.chunks import chunks_of
from generation.jobs.resources import RetryingStore
from generation.jobs.settings import JobSettings
from generation.jobs.worker_id import is_gone
from generation.output.folder import OutputFolder
from generation.output.job_manifest import write_job_manifest
from graph.errors import JobBlockedError, JobNotFoundError, MissingExtraError, OptionError
from graph.jobs.reports import end_job, fail_job
from graph.jobs.rounds import Round, read_query_progress, read_round
from graph.jobs.status import workers_alive


class Supervision:
    """Any number of workers do this at the same time.

    Parameters
    ----------
    worker : str
        The id of this one.
    reach : RetryingStore
        The graph.
    queue : Queue
        The chunks.
    folder : OutputFolder
        Where manifests go.
    dead_after_s : float
        See `generation.jobs.worker.WorkerOptions`.
    """

    def __init__(
        self,
        worker: str,
        reach: RetryingStore,
        queue: Queue,
        folder: OutputFolder,
        dead_after_s: float,
    ) -> None:
        self._worker, self._reach, self._queue, self._folder = worker, reach, queue, folder
        self._dead_after_s = dead_after_s
        self._strayed: dict[str, float] = {}

    def advance(self, job: str) -> None:
        """Add a job's chunks to the queue; at the end of a round begin the next, or end the job."""
        queue = self._queue
        if queue.is_making(job):  # it is in the middle of a round
            return
        try:
            current = self._reach(lambda store: read_round(store, job))
            if current is not None and queue.is_busy(job, current.attempt, current.number):
                return
            settings = self._reach.settings_of(job)
            if current is not None and not self._is_complete(job, current, settings):
                return
            begun = self._reach(lambda store: rounds.settle(store, job, settings, current))
            if begun is not None:
                chunks = chunks_of(job, begun, settings.chunk_size)
                queue.enqueue(chunks, begun.attempt, settings.extra)
            else:
                note = self._reach(lambda store: write_job_manifest(store, self._folder, job))
                self._reach(lambda store: end_job(store, job, note=note))
                queue.forget(job)
        except JobNotFoundError:  # dropped with its dataset, meanwhile
            return
        except (JobBlockedError, OptionError, MissingExtraError) as error:
            fail(self._reach, job, error)

    def _is_complete(self, job: str, current: Round, settings: JobSettings) -> bool:
        """Whether a round is made; what was not yet added to the queue is added.

        Raises
        ------
        JobBlockedError
            A chunk has ended without images.
        """
        queue = self._queue
        if self._is_made(job, current):
            return True
        known = queue.known(job, current.attempt, current.number)
        wanted = chunks_of(job, current, settings.chunk_size)
        missing = [chunk for chunk in wanted if chunk.id not in known]
        queue.enqueue(missing, current.attempt, settings.extra)
        if missing or queue.is_busy(job, current.attempt, current.number):
            return False
        if self._is_made(job, current):  # its last chunks have ended since the first look
            return True
        errors = queue.errors(job, current.attempt, current.number)
        reasons = "; ".join(error.rstrip(".") for error in errors)
        raise JobBlockedError(
            "Some images were neither made nor rejected: "
            f"{reasons or 'their chunks are gone from the queue'}. Retry the job."
        )

    def _is_made(self, job: str, current: Round) -> bool:
        return rounds.is_made(current, self._reach(lambda store: read_query_progress(store, job)))

    def adopt(self) -> None:
        """Give the chunks of dead workers to others."""
        running = self._queue.running()
        strayed = self._strays(running)
        if not running:
            return
        within_s = self._dead_after_s
        found = self._reach(lambda store: workers_alive(store, within_s=within_s))
        alive = {worker.id for worker in found}
        orphans = [
            name
            for name, worker in running.items()
            if worker != self._worker and (worker not in alive or is_gone(worker))
        ]
        self._queue.give_back(orphans + strayed)

    def _strays(self, running: Mapping[str, str]) -> list[str]:
        """Chunks that are this worker's for the queue, and that it has not had for long.

        So it is after the queue's database was away between giving one out and handing it over.
        """
        now = time.monotonic()
        own = [name for name, worker in running.items() if worker == self._worker]
        self._strayed = {
            name: self._strayed.get(name, now) for name in own if not self._queue.is_here(name)
        }
        return [name for name, since in self._strayed.items() if now - since > self._dead_after_s]


def fail(reach: RetryingStore, job: str, error: Exception) -> None:
    """Fail a job, if it is still there, with what an error says."""
    message = str(error)  # the error itself would keep what it was raised from in memory
    with contextlib.suppress(JobNotFoundError):
        reach(lambda store: fail_job(store, job, message))
