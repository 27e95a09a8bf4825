"""A worker: takes chunks from the queue and makes them, and sees to it that jobs get on and end.

Any number of workers run at once, on any machines that reach the database, the queue and the output
folder; each may be killed at any moment. All that is worth keeping is written before it is
reported, and whatever is reported may be reported again.
"""

import contextlib
import gc
import hashlib
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import psutil

from generation import rounds
from generation.backends import open_backend
from generation.backends.backend import Backend
from generation.chunks import (
    Chunk,
    Row,
    Studio,
    chunks_of,
    count_start,
    read_record,
    write_record,
)
from generation.filters import open_filter
from generation.job_manifest import write_job_manifest
from generation.job_settings import JobSettings, read_job_settings
from generation.output import OutputFolder
from generation.queue import EXTRAS, Outcome, Queue
from generation.requests import JobBlockedError, OutOfMemoryError
from generation.sources import Sources
from graph.datasets import concept_names
from graph.errors import (
    CobalanceError,
    JobNotFoundError,
    MissingExtraError,
    OptionError,
    StoreError,
    StoreUnavailableError,
)
from graph.job_progress import read_job, workers_alive
from graph.job_reports import fail_job, heartbeat, stop_worker
from graph.job_rounds import Round, active_jobs, read_query_progress, read_round
from graph.job_work import end_job, start_queries
from graph.jobs import query_id
from graph.progress import Progress, silent
from graph.store import GraphStore

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_TRIES = 2  # of a chunk that fails; then it is halved
_STARTS = 4  # of a chunk that ends its worker each time; then it is halved
_REFUSALS = 5  # of the graph, such as for a deadlock, before what was asked is given up


class WorkerStopped(BaseException):
    """The worker is told to end while it waits for something; its chunk is left to others."""


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works.

    Parameters
    ----------
    queue_url : str
        See `generation.queue.Queue`.
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
    poll_s: float = 0.2
    dead_after_s: float = 30.0
    until_idle: bool = False
    jobs: frozenset[str] | None = None


@dataclass(frozen=True, eq=False)
class Places:
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


@dataclass(eq=False)
class Worker:
    """A worker, one a process.

    Parameters
    ----------
    places : Places
        What it can reach.
    options : WorkerOptions
        How it works.
    progress : Progress
        Told how far each job is, once a second.
    """

    places: Places
    options: WorkerOptions
    progress: Progress = silent
    id: str = field(default_factory=lambda: f"{_machine()}:{os.getpid()}:{uuid.uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        self._extra_of: dict[str, str] = {}
        self.jobs_left: dict[str, str] = {}  # to workers that have what they need, by that
        self.jobs_seen: dict[str, None] = {}  # in the order in which they were
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._device = threading.Lock()
        self._opening = threading.Condition()
        self._studio: Studio | None = None
        self._opened_for, self._users = ("", 0, ""), 0
        self._opened_as: tuple[str, str] | None = None
        self._store: GraphStore | None = None
        self._lost: list[GraphStore] = []
        self._connecting = threading.Lock()
        self._job: str | None = None
        self._told, self._seen = 0.0, list[str]()
        self._strayed: dict[str, float] = {}

    def stop(self) -> None:
        """Tell it to end, from any thread or signal handler: what it makes now is ended first."""
        self._stop.set()

    def run(self) -> None:
        """Work until told to stop, or until there is nothing left to do.

        Raises
        ------
        StoreUnavailableError
            The graph or the queue does not answer at the start. Later it waits for them.
        """
        self._reach(lambda store: heartbeat(store, self.id, host=socket.gethostname()), wait=False)
        options = self.options
        queue = Queue(options.queue_url, self.id, self._work, options.poll_s, installed_extras())
        beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beating.start()
        pause_s = 0.0
        try:
            while not self._stop.wait(pause_s):
                try:
                    active = [job for job in self._reach(active_jobs) if self._serves(job)]
                    self.jobs_seen.update(dict.fromkeys(active))
                    if self._job not in active:
                        self._job = None
                    self._adopt(queue)
                    for job in active:
                        self._advance(queue, job)
                    self._tell(active)
                except WorkerStopped:
                    break
                except StoreUnavailableError as error:  # the queue's; the graph is waited for
                    _log.warning("waiting for the queue: %s", error)
                    pause_s = min(max(pause_s, 0.5) * 2, 10.0)
                    continue
                pause_s = self.options.poll_s
                if not active and self.options.until_idle:
                    break
        finally:
            self._stop.set()
            queue.close(wait_s=600)
            self._ended.set()  # till now it was alive to others, who would take its chunks
            beating.join(20)
            with contextlib.suppress(CobalanceError):
                self._reach(lambda store: stop_worker(store, self.id), wait=False)
            for store in (*self._lost, *([self._store] if self._store else [])):
                store.close()

    # What every worker sees to.

    def _advance(self, queue: Queue, job: str) -> None:
        """Add a job's chunks to the queue; at the end of a round begin the next, or end it."""
        try:
            current = self._reach(lambda store: read_round(store, job))
            if current is not None and queue.is_busy(job, current.attempt, current.number):
                return
            settings = self._settings_of(job)
            if current is not None and not self._is_complete(queue, job, current, settings):
                return
            begun = self._reach(lambda store: rounds.settle(store, job, settings, current))
            if begun is not None:
                chunks = chunks_of(job, begun, settings.chunk_size)
                queue.enqueue(chunks, begun.attempt, settings.extra)
            else:
                self._reach(lambda store: write_job_manifest(store, self.places.folder, job))
                self._reach(lambda store: end_job(store, job))
                queue.forget(job)
        except JobNotFoundError:  # dropped with its dataset, meanwhile
            return
        except (JobBlockedError, OptionError, MissingExtraError) as error:
            message = str(error)
            self._reach(lambda store: _fail_job(store, job, message))

    def _is_complete(self, queue: Queue, job: str, current: Round, settings: JobSettings) -> bool:
        """Whether a round is made; what was not yet added to the queue is added.

        Raises
        ------
        JobBlockedError
            A chunk has ended without images.
        """
        if rounds.is_made(current, self._reach(lambda store: read_query_progress(store, job))):
            return True
        known = queue.known(job, current.attempt, current.number)
        wanted = chunks_of(job, current, settings.chunk_size)
        missing = [chunk for chunk in wanted if chunk.id not in known]
        queue.enqueue(missing, current.attempt, settings.extra)
        if missing or queue.is_busy(job, current.attempt, current.number):
            return False
        if rounds.is_made(current, self._reach(lambda store: read_query_progress(store, job))):
            return True  # between the first look and the last chunk's end
        errors = queue.errors(job, current.attempt, current.number)
        raise JobBlockedError(
            "Some images were neither made nor rejected: "
            f"{'; '.join(errors) or 'their chunks are gone from the queue'}. Retry the job."
        )

    def _adopt(self, queue: Queue) -> None:
        """Give the chunks of dead workers to others."""
        running = queue.running()
        strayed = self._strays(queue, running)
        if not running:
            return
        dead_after = self.options.dead_after_s
        alive = {
            worker.id
            for worker in self._reach(lambda store: workers_alive(store, within_s=dead_after))
        }
        orphans = [
            name
            for name, worker in running.items()
            if worker != self.id and (worker not in alive or _is_gone(worker))
        ]
        queue.give_back(orphans + strayed)

    def _strays(self, queue: Queue, running: Mapping[str, str]) -> list[str]:
        """Chunks that are this worker's for the queue, and that it has not had for long.

        So it is after the queue's database was away between giving one out and handing it over.
        """
        now = time.monotonic()
        own = [name for name, worker in running.items() if worker == self.id]
        self._strayed = {
            name: self._strayed.get(name, now) for name in own if not queue.is_here(name)
        }
        return [
            name for name, since in self._strayed.items() if now - since > self.options.dead_after_s
        ]

    def _serves(self, job: str) -> bool:
        """Whether this worker is to run a job, and has what it takes."""
        if self.options.jobs is not None and job not in self.options.jobs:
            return False
        if job not in self._extra_of:
            try:
                self._extra_of[job] = self._settings_of(job).extra
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
        for job in dict.fromkeys([*self._seen, *jobs]):
            with contextlib.suppress(JobNotFoundError):
                found = self._reach(partial(read_job, job=job))
                self.progress(f"job {job}", found.covered, found.wanted)
        self._seen = jobs

    def _beat(self) -> None:
        while not self._ended.wait(min(self.options.dead_after_s / 4, 5.0)):
            with contextlib.suppress(CobalanceError, OSError, WorkerStopped):
                beat = partial(heartbeat, worker=self.id, host=socket.gethostname(), job=self._job)
                self._reach(beat, wait=False)

    # A chunk.

    def _work(self, chunk: Chunk, attempt: int) -> Outcome:
        try:
            dataset = self._reach(lambda store: self._start(store, chunk, attempt))
            if dataset is None:
                return "left"
            self._job = chunk.job
            return self._work_on(chunk, attempt, dataset)
        except (JobBlockedError, OptionError, MissingExtraError) as error:
            message = str(error)
            self._reach(lambda store: _fail_job(store, chunk.job, message))
            return "left"
        except JobNotFoundError:
            return "left"

    @staticmethod
    def _start(store: GraphStore, chunk: Chunk, attempt: int) -> str | None:
        queries = dict.fromkeys(query_id(chunk.job, query) for query, _ in chunk.items)
        return start_queries(store, chunk.job, attempt, list(queries))

    def _work_on(self, chunk: Chunk, attempt: int, dataset: str) -> Outcome:
        folder = self.places.folder
        rows = read_record(folder, chunk)
        if rows is None:
            if self._was_halved(chunk):
                return "halved"
            made = self._make_in_studio(chunk, attempt, dataset)
            if made is None:
                return "halved"
            rows = made
            folder.delete(chunk.starts_name())
        reported = rows
        self._reach(lambda store: rounds.report(store, chunk, reported))
        return "done"

    def _make_in_studio(self, chunk: Chunk, attempt: int, dataset: str) -> list[Row] | None:
        with self._opened(chunk.job, attempt, dataset) as studio:
            return self._make(studio, chunk)

    def _was_halved(self, chunk: Chunk) -> bool:
        """Whether this chunk was given up before, in an earlier attempt of the job."""
        folder = self.places.folder
        return any(
            folder.exists(half.record_name()) or folder.exists(half.starts_name())
            for half in chunk.halves()
        )

    def _make(self, studio: Studio, chunk: Chunk) -> list[Row] | None:
        """Make a chunk; None where it should be halved."""
        folder = self.places.folder
        reason = "Making it ended its worker each time."
        if count_start(folder, chunk) < _STARTS:
            for _ in range(_TRIES):
                try:
                    return studio.make(chunk, folder)
                except OutOfMemoryError as error:
                    reason = str(error)
                    break
                except (JobBlockedError, StoreUnavailableError, WorkerStopped):
                    with contextlib.suppress(CobalanceError):
                        folder.delete(chunk.starts_name())  # the chunk is not to blame
                    raise
                except Exception as error:  # noqa: BLE001 - stored with the job's candidates
                    _log.warning("chunk %s/%s", chunk.job, chunk.id, exc_info=True)
                    reason = str(error) or type(error).__name__
        if len(chunk.items) > 1:
            return None
        rows = studio.failure(chunk, f"It could not be made: {reason}")
        write_record(folder, chunk, rows)
        return rows

    @contextlib.contextmanager
    def _opened(self, job: str, attempt: int, dataset: str) -> Iterator[Studio]:
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

    def _open(self, job: str, dataset: str) -> Studio:
        settings = self._settings_of(job)
        kept = self._studio.backend if self._studio is not None else None
        self._studio = None  # its memory is needed for the next
        opened_as = (settings.backend, settings.making.model_dump_json())
        backend: Backend
        if kept is not None and opened_as == self._opened_as:
            backend = kept
        else:
            kept = None
            gc.collect()  # past errors hold frames, and these the last one
            backend = open_backend(settings.backend, settings.making)
        filters = {
            name: open_filter(name, self._with_vocabulary(name, options, dataset))
            for name, options in settings.filter_options().items()
        }
        queries = {
            query.position: (query.class_name, query.concepts)
            for query in self._reach(lambda store: read_query_progress(store, job))
        }
        sources = self._reach(lambda store: self.places.open_sources(store, dataset, settings))
        self._opened_as = opened_as
        return Studio(job, settings, queries, backend, filters, sources, self._device)

    def _with_vocabulary(
        self, name: str, options: Mapping[str, Any], dataset: str
    ) -> Mapping[str, Any]:
        """Have the filter that looks for objects know what else the dataset could show."""
        if name != "objects" or "vocabulary" in options:
            return options
        return {**options, "vocabulary": self._reach(partial(concept_names, dataset=dataset))}

    def _settings_of(self, job: str) -> JobSettings:
        return read_job_settings(self._reach(lambda store: read_job(store, job)).settings)

    # The graph, which may go away and come back.

    def _reach(self, ask: Callable[[GraphStore], _T], *, wait: bool = True) -> _T:
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
            if self._stop.wait(pause_s):
                raise WorkerStopped
            pause_s = min(pause_s * 2, 10.0)

    def _connected(self) -> GraphStore:
        with self._connecting:
            if self._store is None:
                self._store = self.places.connect()
            return self._store

    def _forget(self, store: GraphStore | None) -> None:
        with self._connecting:
            if store is not None and store is self._store:
                self._lost.append(store)  # another thread may still be in it
                self._store = None


def installed_extras() -> tuple[str, ...]:
    """The parts of cobalance that this process has the packages of."""
    models = ("torch", "diffusers", "transformers")
    return EXTRAS if all(find_spec(name) for name in models) else ("worker",)


def _fail_job(store: GraphStore, job: str, message: str) -> None:
    with contextlib.suppress(JobNotFoundError):
        fail_job(store, job, message)


def _is_gone(worker: str) -> bool:
    """Whether a worker ran on this machine and its process has ended."""
    machine, _, pid = worker.rpartition(":")[0].rpartition(":")
    if machine != _machine() or not pid.isdigit():
        return False
    try:
        return bool(psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def _machine() -> str:
    """Name this machine: unlike one with the same host name, or a container with own processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        about = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        about = f"{uuid.getnode()}"
    return f"{socket.gethostname()}:{hashlib.sha256(about.encode()).hexdigest()[:6]}"
