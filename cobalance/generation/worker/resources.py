"""Worker resources: output folder, sources, and a graph connection that retries."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cobalance.base import Progress, StoreError, StoreUnavailableError, T
from cobalance.generation.jobs.settings import JobSettings, read_job_settings
from cobalance.generation.sources.sampler import Sources
from cobalance.graph import GraphStore, read_job
from cobalance.vision.stored.output_folder import OutputFolder

_log = logging.getLogger(__name__)


# A task is given up after so many transient errors of the graph, such as deadlocks.
_REFUSALS = 5


class AskGraph(Protocol):
    """Runs a function on the graph and returns its result, however often it takes."""

    def __call__(self, task: Callable[[GraphStore], T]) -> T:
        """Run it."""


@dataclass(frozen=True)
class TaskRun:
    """A task that a worker executes.

    Parameters
    ----------
    settings : mapping
        As given to `cobalance.graph.tasks.lifecycle.create_task`.
    graph : AskGraph
        Asks the graph, also after it was away.
    progress : Progress
        To be called now and then: it raises `TaskCancelled` and `WorkerStopped`, which the task
        lets pass. Another worker then starts it again, unless it was cancelled.
    """

    id: str
    dataset: str | None
    settings: Mapping[str, Any]
    graph: AskGraph
    progress: Progress


RunTask = Callable[[TaskRun], str]
"""Executes a task of a kind; returns what people should know of its result, or nothing."""


@dataclass(frozen=True, eq=False)
class WorkerResources:
    """Resources of a worker.

    Parameters
    ----------
    open_sources : callable
        Opens a job's sources, given the store, the dataset's name and the job's settings; None for
        a dataset without image files.
    plugins : frozenset of str
        The plug-ins of packages and files that can be used here, such as ``filter mine``.
    """

    connect: Callable[[], GraphStore]
    folder: OutputFolder
    open_sources: Callable[[GraphStore, str, JobSettings], Sources | None]
    tasks: Mapping[str, RunTask] = field(default_factory=dict)
    plugins: frozenset[str] = frozenset()


class WorkerStopped(BaseException):
    """The worker was stopped in the middle of work, which is left to other workers."""


class WorkerBusy(BaseException):
    """The worker's device is taken for long; after a while its supervisor queues the work again."""


class TaskCancelled(BaseException):
    """A task is not wanted any more: it was cancelled, queued again, or dropped."""


class RetryingStore:
    """Graph connection that retries; for any number of threads.

    Parameters
    ----------
    stopped : threading.Event
        Set when the worker is told to stop.
    """

    def __init__(self, connect: Callable[[], GraphStore], stopped: threading.Event) -> None:
        self._connect, self._stopped = connect, stopped
        self._store: GraphStore | None = None
        self._lost: list[GraphStore] = []
        self._connecting = threading.Lock()

    def run(self, task: Callable[[GraphStore], T]) -> T:
        """Run a task on the graph; retry while the graph does not answer.

        Transient errors, such as deadlocks, are retried a few times.

        Raises
        ------
        WorkerStopped
            The worker was stopped meanwhile.
        """
        pause_s, began, refusals = 0.5, time.monotonic(), 0
        while True:
            try:
                return self.run_once(task)
            except StoreUnavailableError as error:
                _log.warning("waiting for the graph, %.0f s: %s", time.monotonic() - began, error)
            except StoreError as error:
                refusals += 1
                # Errors of a more exact class do not pass by themselves.
                if type(error) is not StoreError or refusals >= _REFUSALS:
                    raise
                _log.warning("retrying on the graph: %s", error)

            if self._stopped.wait(pause_s):
                raise WorkerStopped
            pause_s = min(pause_s * 2, 10.0)

    def run_once(self, task: Callable[[GraphStore], T]) -> T:
        """Run a task on the graph without retries.

        Raises
        ------
        StoreUnavailableError
            The graph does not answer. The next task connects again.
        """
        store = None
        try:
            with self._connecting:
                store = self._store = self._store or self._connect()
            return task(store)
        except StoreUnavailableError:
            with self._connecting:
                if store is not None and store is self._store:
                    # Another thread may still be in it, so that it is closed at the end.
                    self._lost.append(store)
                    self._store = None
            raise

    def job_settings(self, job: str) -> JobSettings:
        """Read a job's settings.

        Raises
        ------
        NotFoundError
            The job is gone.
        OptionError, UnknownNameError
            They cannot be used.
        """
        return read_job_settings(self.run(lambda store: read_job(store, job)).settings)

    def close(self) -> None:
        """Close all connections."""
        for store in self._lost:
            store.close()
        if self._store is not None:
            self._store.close()
