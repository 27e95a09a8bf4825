"""What a worker reaches; the graph above all, for which it waits while it does not answer."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from generation.jobs.settings import JobSettings, read_job_settings
from generation.output.folder import OutputFolder
from generation.sources.sampler import Sources
from graph.database.store import GraphStore
from graph.errors import StoreError, StoreUnavailableError
from graph.jobs.status import read_job

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_REFUSALS = 5  # of the graph, such as for a deadlock, before what was asked is given up


@dataclass(frozen=True, eq=False)
class WorkerResources:
    """What a worker is given to reach, by the one place that reads settings.

    Parameters
    ----------
    connect : callable
        Opens the graph.
    folder : OutputFolder
        Where images go.
    open_sources : callable
        Gives where a job's objects come from: of the store, the dataset's name and the job's
        settings; None for a dataset that names no image files.
    """

    connect: Callable[[], GraphStore]
    folder: OutputFolder
    open_sources: Callable[[GraphStore, str, JobSettings], Sources | None]


class WorkerStopped(BaseException):
    """The worker is told to end while it waits for something; its chunk is left to others."""


class RetryingStore:
    """The graph, which may go away and come back; for any number of threads.

    Parameters
    ----------
    connect : callable
        Opens the graph.
    stopped : threading.Event
        Set when the worker is told to end.
    """

    def __init__(self, connect: Callable[[], GraphStore], stopped: threading.Event) -> None:
        self._connect, self._stopped = connect, stopped
        self._store: GraphStore | None = None
        self._lost: list[GraphStore] = []
        self._connecting = threading.Lock()

    def __call__(self, ask: Callable[[GraphStore], _T], *, wait: bool = True) -> _T:
        """Ask the graph; while it does not answer, wait for it.

        Raises
        ------
        WorkerStopped
            The worker is told to end meanwhile.
        """
        pause_s, began, refusals = 0.5, time.monotonic(), 0
        while True:
            store = None
            try:
                store = self._connected()
                return ask(store)
            except StoreUnavailableError as error:
                self._forget(store)
                if not wait:
                    raise
                _log.warning("waiting for the graph, %.0f s: %s", time.monotonic() - began, error)
            except StoreError as error:
                refusals += 1
                if not wait or type(error) is not StoreError or refusals >= _REFUSALS:
                    raise
                _log.warning("asking the graph again: %s", error)
            if self._stopped.wait(pause_s):
                raise WorkerStopped
            pause_s = min(pause_s * 2, 10.0)

    def settings_of(self, job: str) -> JobSettings:
        """Ask for a job's settings.

        Raises
        ------
        JobNotFoundError
            The job is gone.
        OptionError, UnknownNameError
            They cannot be used.
        """
        return read_job_settings(self(lambda store: read_job(store, job)).settings)

    def close(self) -> None:
        """Close what was opened."""
        for store in (*self._lost, *([self._store] if self._store else [])):
            store.close()

    def _connected(self) -> GraphStore:
        with self._connecting:
            if self._store is None:
                self._store = self._connect()
            return self._store

    def _forget(self, store: GraphStore | None) -> None:
        with self._connecting:
            if store is not None and store is self._store:
                self._lost.append(store)  # another thread may still be in it
                self._store = None
