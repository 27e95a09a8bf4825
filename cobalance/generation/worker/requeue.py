"""Requeue chunks and tasks that nobody executes: a dead worker's, or never received.

A worker is dead once its last heartbeat is older than ``WorkerOptions.dead_after_s``, and on this
machine as soon as its process has ended.
"""

import time
from collections.abc import Mapping
from functools import partial

from cobalance.generation.jobs.job_queue import Queue
from cobalance.generation.worker.resources import RetryingStore
from cobalance.generation.worker.worker_id import is_dead
from cobalance.graph import workers_alive


class Requeuer:
    """Requeues chunks and tasks; every worker has one."""

    def __init__(
        self, worker: str, store: RetryingStore, queue: Queue, dead_after_s: float
    ) -> None:
        self._worker, self._store, self._queue = worker, store, queue
        self._dead_after_s = dead_after_s
        self._lost_since: dict[str, float] = {}

    def requeue_orphans(self) -> None:
        """Requeue dead workers' chunks and tasks."""
        running = self._queue.running()
        orphans = self._find_lost(running)
        others = {name: worker for name, worker in running.items() if worker != self._worker}

        # Heartbeats are in the graph; a worker that is alone asks it nothing.
        if others:
            workers = self._store.run(partial(workers_alive, within_s=self._dead_after_s))
            alive = {worker.id for worker in workers}
            orphans += [
                name for name, worker in others.items() if worker not in alive or is_dead(worker)
            ]
        self._queue.requeue(orphans)

    def _find_lost(self, running: Mapping[str, str]) -> list[str]:
        """Chunks that the queue lists as this worker's, and that it has not run for long.

        The queue's database was away between handing a chunk out and this worker's receipt of it.
        """
        now = time.monotonic()
        lost_since = {}
        for name, worker in running.items():
            if worker == self._worker and not self._queue.runs(name):
                lost_since[name] = self._lost_since.get(name, now)
        self._lost_since = lost_since
        return [name for name, since in lost_since.items() if now - since > self._dead_after_s]
