"""Advance jobs and tasks: queue the next chunks, and end complete jobs."""

import contextlib

from cobalance.base import DataError, JobBlockedError, MachineError, NotFoundError, OptionError
from cobalance.generation.jobs import rounds
from cobalance.generation.jobs.chunks import cut_round
from cobalance.generation.jobs.job_queue import Queue
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.output.job_manifest import write_job_manifest
from cobalance.generation.worker.job_account import answers_folder
from cobalance.generation.worker.resources import RetryingStore
from cobalance.graph import (
    ActiveTask,
    Round,
    end_job,
    fail_job,
    fail_task,
    read_query_progress,
    read_round,
)
from cobalance.vision.stored.output_folder import OutputFolder

FAILS_A_JOB = (DataError, JobBlockedError, MachineError, OptionError)
"""Errors that a retry does not fix: the job fails with their message."""


class JobSupervisor:
    """Advances jobs and tasks; every worker has one, and all may work at the same time."""

    def __init__(self, store: RetryingStore, queue: Queue, folder: OutputFolder) -> None:
        self._store, self._queue, self._folder = store, queue, folder

    def advance(self, job: str) -> None:
        """Queue a job's chunks; at the end of a round begin the next one, or end the job."""
        queue = self._queue
        # In the middle of a round there is nothing to advance.
        if queue.is_executing(job):
            return
        try:
            current = self._store.run(lambda store: read_round(store, job))
            if current is not None and queue.is_busy(job, current.attempt, current.number):
                return
            settings = self._store.job_settings(job)
            if current is not None and not self._is_complete(job, current, settings):
                return

            begun = self._store.run(
                lambda store: rounds.next_round(store, self._folder, job, settings, current)
            )
            if begun is not None:
                chunks = cut_round(job, begun, settings.chunk_size)
                queue.enqueue(chunks, begun.attempt, settings.needs)
                return
            note = self._store.run(lambda store: write_job_manifest(store, self._folder, job))
            self._folder.delete_folder(answers_folder(job))
            self._store.run(lambda store: end_job(store, job, note=note))
            queue.delete_job(job)
        except NotFoundError:
            # It was dropped with its dataset meanwhile.
            return
        except FAILS_A_JOB as error:
            fail(self._store, job, error)

    def advance_task(self, task: ActiveTask) -> None:
        """Queue a task that is not queued yet; fail one that ended there without a result."""
        if self._queue.is_executing(task.id):
            return
        state, error = self._queue.task_state(task.id, task.attempt)
        if state == "unknown":
            self._queue.enqueue_task(task.id, task.attempt, task.extra)
        elif state == "ended":
            # This changes nothing for a task that ended after it was listed.
            reason = error.rstrip(".") or "it is gone from the queue"
            message = f"It ended without a result: {reason}. Retry it."
            self._store.run(lambda store: fail_task(store, task.id, task.attempt, message))

    def forget_task(self, task: str, attempt: int) -> bool:
        """Delete a task from the queue; False where it has yet to end there."""
        if self._queue.is_executing(task) or self._queue.task_state(task, attempt)[0] == "open":
            return False
        self._queue.delete_job(task)
        return True

    def _is_complete(self, job: str, current: Round, settings: JobSettings) -> bool:
        """Whether a round is complete; chunks of it that are not queued yet are queued."""
        queue = self._queue
        if self._has_all(job, current):
            return True

        queued = queue.chunk_ids(job, current.attempt, current.number)
        chunks = cut_round(job, current, settings.chunk_size)
        missing = [chunk for chunk in chunks if chunk.id not in queued]
        queue.enqueue(missing, current.attempt, settings.needs)
        if missing or queue.is_busy(job, current.attempt, current.number):
            return False
        # Its last chunks may have ended since the first look.
        if self._has_all(job, current):
            return True

        errors = queue.errors(job, current.attempt, current.number)
        reasons = "; ".join(error.rstrip(".") for error in errors)
        raise JobBlockedError(
            "Some images were neither generated nor rejected: "
            f"{reasons or 'their chunks are gone from the queue'}. Retry the job."
        )

    def _has_all(self, job: str, current: Round) -> bool:
        progress = self._store.run(lambda store: read_query_progress(store, job))
        return rounds.is_complete(current, progress)


def fail(store: RetryingStore, job: str, error: Exception) -> None:
    """Fail a job with an error's message, if the job still exists."""
    # A closure over the error would keep its traceback's frames alive.
    message = str(error)
    with contextlib.suppress(NotFoundError):
        store.run(lambda graph: fail_job(graph, job, message))
