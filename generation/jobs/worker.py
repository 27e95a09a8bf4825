"""A worker: takes chunks from the queue and makes them, and sees to it that jobs get on and end.

Any number of workers run at once, on any machines that reach the database, the queue and the output
folder; each may be killed at any moment. All that is worth keeping is written before it is
reported, and whatever is reported may be reported again.
"""

import contextlib
import logging
import socket
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec

from generation.jobs.chunk_queue import EXTRAS, Queue
from generation.jobs.executor import ChunkExecutor
from generation.jobs.resources import RetryingStore, WorkerResources, WorkerStopped
from generation.jobs.supervision import Supervision
from generation.jobs.worker_id import new_worker_id
from graph.errors import CobalanceError, JobNotFoundError, OptionError, StoreUnavailableError
from graph.jobs.reports import heartbeat, stop_worker
from graph.jobs.rounds import active_jobs
from graph.jobs.status import read_job
from graph.progress import Progress, silent

_log = logging.getLogger(__name__)

_BUSY_POLL_S = 1.0  # while it makes images itself, which needs the processor more
_AFTER_CHUNK_S = 0.02  # then longer each time: the queue may not have seen the end of the last one


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works.

    Parameters
    ----------
    queue_url : str
        See `generation.jobs.chunk_queue.Queue`.
    poll_s : float
        How often to look for work.
    dead_after_s : float
        A worker on another machine that has not been heard of for so long is taken for dead, and
        its chunks are given to others. On this machine it is known at once.
    until_idle : bool
        End when no job is left to run.
    jobs : frozenset of str or None
        Run these jobs alone; None for all.
    """

    queue_url: str
    poll_s: float = 0.3
    dead_after_s: float = 30.0
    until_idle: bool = False
    jobs: frozenset[str] | None = None


@dataclass(eq=False)
class Worker:
    """A worker, one a process.

    Parameters
    ----------
    places : WorkerResources
        What it can reach.
    options : WorkerOptions
        How it works.
    progress : Progress
        Told how far each job is, once a second.

    Attributes
    ----------
    jobs_left : dict of str to str
        The jobs left to workers that have what they need, by that.
    jobs_seen : dict of str to None
        The jobs it worked on, in order.
    """

    places: WorkerResources
    options: WorkerOptions
    progress: Progress = silent
    id: str = field(default_factory=new_worker_id)

    def __post_init__(self) -> None:
        self.jobs_left: dict[str, str] = {}
        self.jobs_seen: dict[str, None] = {}
        self._extra_of: dict[str, str] = {}
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._reach = RetryingStore(self.places.connect, self._stop)
        self._maker = ChunkExecutor(self._reach, self.places)
        self._told, self._told_of = 0.0, list[str]()

    def stop(self) -> None:
        """Tell it to end, from any thread or signal handler: what it makes now is ended first."""
        self._stop.set()
        self._woken.set()

    def run(self) -> None:
        """Work until told to stop, or until there is nothing left to do.

        Raises
        ------
        StoreUnavailableError
            The graph or the queue does not answer at the start. Later it waits for them.
        """
        host = socket.gethostname()
        try:
            self._reach(lambda store: heartbeat(store, self.id, host=host), wait=False)
            try:
                self._work()
            finally:
                with contextlib.suppress(CobalanceError):
                    self._reach(lambda store: stop_worker(store, self.id), wait=False)
        finally:
            self._reach.close()

    def _work(self) -> None:
        options = self.options
        queue = Queue(
            options.queue_url,
            self.id,
            self._maker.make,
            options.poll_s,
            installed_extras(),
            self._woken.set,
        )
        folder = self.places.folder
        supervision = Supervision(self.id, self._reach, queue, folder, options.dead_after_s)
        beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beating.start()
        try:
            self._supervise(supervision, queue)
        finally:
            self._stop.set()
            queue.close(wait_s=600)
            self._ended.set()  # till now it was alive to others, who would take its chunks
            beating.join(20)

    def _supervise(self, supervision: Supervision, queue: Queue) -> None:
        """Look after all jobs until told to stop; the queue's threads make chunks meanwhile."""
        pause_s = rest_s = 0.0
        while True:
            if self._woken.wait(pause_s):
                rest_s = _AFTER_CHUNK_S
            self._woken.clear()
            if self._stop.is_set():
                return
            try:
                active = [job for job in self._reach(active_jobs) if self._serves(job)]
                self.jobs_seen.update(dict.fromkeys(active))
                if self._maker.job not in active:
                    self._maker.job = None
                supervision.adopt()
                for job in active:
                    supervision.advance(job)
                self._tell(active)
            except WorkerStopped:
                return
            except StoreUnavailableError as error:  # the queue's; the graph is waited for
                _log.warning("waiting for the queue: %s", error)
                pause_s = min(max(pause_s, 0.5) * 2, 10.0)
                continue
            rest_s = min(max(2 * rest_s, _AFTER_CHUNK_S), self.options.poll_s)
            pause_s = _BUSY_POLL_S if queue.is_making() else rest_s
            if not active and self.options.until_idle:
                return

    def _serves(self, job: str) -> bool:
        """Whether this worker is to run a job, and has what it takes."""
        if self.options.jobs is not None and job not in self.options.jobs:
            return False
        if job not in self._extra_of:
            try:
                self._extra_of[job] = self._reach.settings_of(job).extra
            except JobNotFoundError:
                return False
            except OptionError:  # which fails the job
                self._extra_of[job] = "worker"
        if self._extra_of[job] in installed_extras():
            return True
        self.jobs_left[job] = self._extra_of[job]
        return False

    def _tell(self, jobs: list[str]) -> None:
        if self.progress is silent or time.monotonic() - self._told < 1:
            return
        self._told = time.monotonic()
        for job in dict.fromkeys([*self._told_of, *jobs]):
            with contextlib.suppress(JobNotFoundError):
                found = self._reach(partial(read_job, job=job))
                self.progress(f"job {job}", found.covered, found.wanted)
        self._told_of = jobs

    def _beat(self) -> None:
        host = socket.gethostname()
        while not self._ended.wait(min(self.options.dead_after_s / 4, 5.0)):
            beat = partial(heartbeat, worker=self.id, host=host, job=self._maker.job)
            with contextlib.suppress(CobalanceError, OSError, WorkerStopped):
                self._reach(beat, wait=False)


def installed_extras() -> tuple[str, ...]:
    """The parts of cobalance that this process has the packages of."""
    models = ("torch", "diffusers", "transformers")
    return EXTRAS if all(find_spec(name) for name in models) else ("worker",)
