"""A worker process: executes chunks and tasks from the queue, advances jobs, sends heartbeats.

Any number of workers run at once, on any machines that can connect to the graph, the queue and the
output folder, and each may be killed at any moment: files are written before they are reported, and
a report may be repeated.
"""

import contextlib
import logging
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

from cobalance.base import (
    EXTRAS,
    CobalanceError,
    NotFoundError,
    Progress,
    StoreUnavailableError,
    is_installed,
    silent,
)
from cobalance.generation.jobs.job_queue import Queue
from cobalance.generation.worker.chunk_executor import ChunkExecutor
from cobalance.generation.worker.job_supervisor import JobSupervisor
from cobalance.generation.worker.requeue import Requeuer
from cobalance.generation.worker.resources import RetryingStore, WorkerResources, WorkerStopped
from cobalance.generation.worker.runner_slot import RunnerSlot
from cobalance.generation.worker.task_executor import TaskExecutor
from cobalance.generation.worker.worker_id import new_worker_id
from cobalance.graph import (
    ActiveTask,
    GraphStore,
    active_jobs,
    active_tasks,
    heartbeat,
    read_job,
    stop_worker,
)

_log = logging.getLogger(__name__)

# While a worker generates images itself, that needs the processor more.
_BUSY_POLL_S = 1.0
# The queue may not have seen the end of the last chunk yet: then the pause is longer each time.
_AFTER_CHUNK_S = 0.02
# How long Python's lock stays with a thread that others wait for. The steps of a model give it back
# thousands of times a second, and would wait the usual 5 ms whenever a filter or a file has it.
_SWITCH_S = 0.0005


@dataclass(frozen=True)
class WorkerOptions:
    """Options of a worker.

    Parameters
    ----------
    queue_url : str
        See `cobalance.generation.jobs.job_queue.Queue`.
    poll_s : float
        Seconds between looks for work.
    dead_after_s : float
        A worker without a heartbeat for so long counts as dead, and its chunks are requeued. A dead
        process on the same machine is noticed at once.
    until_idle : bool
        Stop when no job or task is left to run.
    idle_s : float or None
        Stop when there was none for so many seconds.
    jobs : frozenset of str or None
        Run only these jobs and tasks; None for all.
    """

    queue_url: str
    poll_s: float = 0.3
    dead_after_s: float = 30.0
    until_idle: bool = False
    idle_s: float | None = None
    jobs: frozenset[str] | None = None


@dataclass(eq=False)
class Worker:
    """A worker; one per process.

    Parameters
    ----------
    resources : WorkerResources
        Graph, output folder, sources, and what executes tasks.
    progress : Progress
        Told the progress of each job, once a second.

    Attributes
    ----------
    seen : dict of str to str
        Jobs and tasks that it worked on, in order, each with its kind: ``Job`` or ``Task``.
    left : dict of str to tuple of two str
        Those left to other workers, each with its kind, and the extra or plug-in that is not
        installed here.
    """

    resources: WorkerResources
    options: WorkerOptions
    progress: Progress = silent
    id: str = field(default_factory=new_worker_id)

    def __post_init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.left: dict[str, tuple[str, str]] = {}
        # Attempts of the tasks that the queue has.
        self._queued_tasks: dict[str, int] = {}

        self._stop = threading.Event()
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._store = RetryingStore(self.resources.connect, self._stop)
        runners = RunnerSlot(self._store, self.resources)
        self._executor = ChunkExecutor(self._store, self.resources, runners)
        self._tasks = TaskExecutor(self._store, self.resources, runners, self._stop, self.progress)

        self._reported_at, self._reported = 0.0, list[str]()

    def stop(self) -> None:
        """Stop after the running chunks; for any thread or signal handler."""
        self._stop.set()
        self._woken.set()

    def run(self) -> None:
        """Work until stopped, or until no job is left.

        Raises
        ------
        StoreUnavailableError
            The graph or the queue does not answer at the start. Later the worker waits for them.
        """
        usual_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            self._store.run_once(self._heartbeat)
            try:
                self._work()
            finally:
                with contextlib.suppress(CobalanceError):
                    self._store.run_once(lambda store: stop_worker(store, self.id))
        finally:
            self._store.close()
            sys.setswitchinterval(usual_s)

    def _work(self) -> None:
        """Open the queue, and work from it until stopped, with a heartbeat in its own thread."""
        options = self.options
        jobs, tasks = self._store.run_once(self._read_work)
        queue = Queue(
            options.queue_url,
            self.id,
            self._executor.execute,
            options.poll_s,
            _needs_of(jobs),
            self._woken.set,
            self._tasks.execute,
            {task.extra for task in tasks},
        )
        supervisor = JobSupervisor(self._store, queue, self.resources.folder)
        requeuer = Requeuer(self.id, self._store, queue, options.dead_after_s)
        beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beating.start()

        try:
            self._supervise(supervisor, requeuer, queue)
        finally:
            self._stop.set()
            queue.close(wait_s=600)
            # The heart beats to the end of the last chunk: others would requeue it without that.
            self._ended.set()
            beating.join(20)

    def _supervise(self, supervisor: JobSupervisor, requeuer: Requeuer, queue: Queue) -> None:
        """Advance jobs and tasks until stopped; the queue's threads execute them meanwhile."""
        pause_s = rest_s = 0.0
        busy_at = time.monotonic()
        idle_s = inf if self.options.idle_s is None else self.options.idle_s
        while True:
            if self._woken.wait(pause_s):
                rest_s = _AFTER_CHUNK_S
            self._woken.clear()
            if self._stop.is_set():
                return

            try:
                has_work = self._advance(supervisor, requeuer, queue)
            except WorkerStopped:
                return
            except StoreUnavailableError as error:
                # Of the queue: the graph is retried where it is asked.
                _log.warning("waiting for the queue: %s", error)
                pause_s = min(max(pause_s, 0.5) * 2, 10.0)
                continue

            rest_s = min(max(2 * rest_s, _AFTER_CHUNK_S), self.options.poll_s)
            pause_s = _BUSY_POLL_S if queue.is_executing() else rest_s
            if has_work:
                busy_at = time.monotonic()
            elif self.options.until_idle or time.monotonic() - busy_at >= idle_s:
                return

    def _advance(self, supervisor: JobSupervisor, requeuer: Requeuer, queue: Queue) -> bool:
        """Advance all jobs and tasks that this worker may run once; whether there are any."""
        jobs, tasks = self._store.run(self._read_work)
        # Each queue that is looked into takes time from what is being generated.
        queue.listen(_needs_of(jobs), {task.extra for task in tasks})

        self.seen |= dict.fromkeys(jobs, "Job")
        if self._executor.job not in jobs:
            self._executor.job = None

        requeuer.requeue_orphans()
        for job in jobs:
            supervisor.advance(job)
        has_tasks = self._advance_tasks(tasks, supervisor)
        self._report_progress(list(jobs))
        return bool(jobs) or has_tasks

    def _read_work(self, store: GraphStore) -> tuple[dict[str, str | None], list[ActiveTask]]:
        """Read the active jobs that this worker may run, with their needs, and the tasks."""
        jobs = {
            job: needs
            for job, needs in active_jobs(store).items()
            if self._serves("Job", job, needs or "worker")
        }
        tasks = [task for task in active_tasks(store) if self._serves("Task", task.id, task.extra)]
        return jobs, tasks

    def _advance_tasks(self, tasks: Sequence[ActiveTask], supervisor: JobSupervisor) -> bool:
        """Advance tasks; whether the queue has any."""
        active = {task.id: task.attempt for task in tasks}
        for task in tasks:
            supervisor.advance_task(task)
        self.seen |= dict.fromkeys(active, "Task")
        self._queued_tasks |= active

        for task_id, attempt in list(self._queued_tasks.items()):
            if task_id not in active and supervisor.forget_task(task_id, attempt):
                del self._queued_tasks[task_id]
        return bool(self._queued_tasks)

    def _serves(self, kind: str, work: str, needs: str) -> bool:
        """Whether to take a job or task; note the extra or plug-in that is missing here."""
        if self.options.jobs is not None and work not in self.options.jobs:
            return False
        installed = self._list_installed()
        missing = [need for need in needs.split(", ") if need not in installed]
        if not missing:
            return True

        if self.left.get(work) != (kind, missing[0]) and missing[0] not in EXTRAS:
            _log.warning("%s is left to workers that have the %s", work, missing[0])
        self.left[work] = kind, missing[0]
        return False

    def _list_installed(self) -> tuple[str, ...]:
        """The extras and plug-ins that are installed here."""
        return (*installed_extras(), *sorted(self.resources.plugins))

    def _report_progress(self, jobs: list[str]) -> None:
        if self.progress is silent or time.monotonic() - self._reported_at < 1:
            return
        self._reported_at = time.monotonic()
        # Jobs of the last report that have ended meanwhile are reported once more, as complete.
        for job_id in dict.fromkeys([*self._reported, *jobs]):
            with contextlib.suppress(NotFoundError):
                job = self._store.run(partial(read_job, job=job_id))
                self.progress(f"job {job_id}", *job.steps)
        self._reported = jobs

    def _beat(self) -> None:
        while not self._ended.wait(min(self.options.dead_after_s / 4, 5.0)):
            with contextlib.suppress(CobalanceError, OSError, WorkerStopped):
                self._store.run_once(self._heartbeat)

    def _heartbeat(self, store: GraphStore) -> None:
        heartbeat(
            store,
            self.id,
            host=socket.gethostname(),
            job=self._tasks.task or self._executor.job,
            extras=self._list_installed(),
            only=self.options.jobs,
        )


def installed_extras() -> tuple[str, ...]:
    """The extras of cobalance whose packages are installed."""
    return tuple(extra for extra in EXTRAS if is_installed(extra))


def _needs_of(jobs: Mapping[str, str | None]) -> set[str]:
    """The needs of jobs, as queues are named after them."""
    # The chunks of a job that does not say what they need may be in any queue.
    unsaid = installed_extras() if None in jobs.values() else ()
    return {*filter(None, jobs.values()), *unsaid}
