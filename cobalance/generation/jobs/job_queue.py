"""The job queue, on DBOS with SQLite or Postgres: each chunk or task is executed once.

It holds execution state alone: which chunks and tasks wait, run or have ended. Orders and results
are in the graph, image files in the output folder.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Literal

from dbos import DBOS, SetWorkflowID
from sqlalchemy.exc import SQLAlchemyError

from cobalance.base import EXTRAS, Setting, StoreUnavailableError, group_pairs
from cobalance.generation.jobs.chunks import Chunk
from cobalance.generation.jobs.queue_database import (
    JsonSerializer,
    check_url,
    queue_client,
    without_password,
)

NAME = "cobalance"
# Names of queues begin so, and end with the needs of their work, as `join_needs` writes them.
_CHUNKS, _TASKS = "chunks-", "tasks-"
# One chunk is read and written while another one computes.
_AT_ONCE = {_CHUNKS: 2, _TASKS: 1}
# Workers leave workflows of another version than theirs alone.
_VERSION = "1"
_UNFINISHED = ["ENQUEUED", "PENDING", "DELAYED"]
_FAILED = ["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]

# Work that was taken and does not run after so long is left to other workers.
_RECORDING_S = 1.0
# The ids of a task's workflows end so; those of chunks end with a round and a number.
_TASK = "task"
# Rows that are deleted at once, by their ids; SQLite takes no more than 999 of these.
DELETE_BATCH = 500

ChunkResult = Literal["done", "skipped", "halved"]
"""Outcome of a chunk: reported, no longer wanted, or replaced by its halves."""

TaskState = Literal["unknown", "open", "ended"]
"""State of a task in the queue: not queued, waiting or running, or ended, whatever its result."""

# DBOS calls functions, not methods, and there is one of it in a process, too.
_open_queue: "Queue"


@DBOS.workflow(name="chunk", max_recovery_attempts=1000)
def _chunk(
    job: str, attempt: int, identity: str, items: list[list[int]], needs: str
) -> ChunkResult:
    chunk = Chunk(job, identity, tuple((query, index) for query, index in items))
    return _open_queue._execute(chunk, attempt, needs)


@DBOS.workflow(name="task", max_recovery_attempts=1000)
def _task(task: str, attempt: int) -> None:
    _open_queue._run_task(task, attempt)


class Queue:
    """Connection to the job queue; one per process at a time.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql://user:password@host:port/database``.
    worker : str
        The worker's id, unique to the process.
    execute : callable
        Executes a chunk, given the job's attempt. Called in threads, two at a time; an exception
        ends the chunk for good.
    poll_s : float
        Seconds between looks for chunks.
    needs : iterable of str
        Needs of the chunks to take from the start; `listen` adds others.
    on_end : callable, optional
        Called after each chunk and task, in its thread.
    run_task : callable, optional
        Executes a task, given its attempt, in a thread, one at a time for each extra. Without it
        tasks are left alone.
    task_needs : iterable of str
        Needs of the tasks to take from the start.

    Raises
    ------
    OptionError
        The URL is none of these.
    StoreUnavailableError
        The database does not answer, or cannot be written to.
    """

    def __init__(
        self,
        url: str,
        worker: str,
        execute: Callable[[Chunk, int], ChunkResult],
        poll_s: float = 0.3,
        needs: Iterable[str] = tuple(EXTRAS),
        on_end: Callable[[], None] | None = None,
        run_task: Callable[[str, int], None] | None = None,
        task_needs: Iterable[str] = tuple(EXTRAS),
    ) -> None:
        global _open_queue
        checked = check_url(url)
        public_url = without_password(url)
        self._connect_errors = partial(_connect_errors, public_url)
        self._execute_chunk, self._execute_task, self._on_end = execute, run_task, on_end

        # Ids of the workflows that run in this process.
        self._running: set[str] = set()
        self._poll_s = poll_s
        self._queues = {kind + extra for kind in _AT_ONCE for extra in EXTRAS}
        self._worker = worker

        _open_queue = self
        _silence_dbos()

        self._dbos = DBOS(
            config={
                "name": NAME,
                "system_database_url": checked,
                "application_version": _VERSION,
                "executor_id": worker,
                "serializer": JsonSerializer(),
                # Events are not used, so that their notifications may wait.
                "notification_coalesce_sec": 1.0,
                # DBOS waits as long for its listener when it ends.
                "notification_listener_polling_interval_sec": 0.1,
                "log_level": "CRITICAL",
            }
        )

        # Drivers of databases raise errors of many classes.
        try:
            self._launch(checked, self._name_queues(needs, task_needs))
        except Exception as error:
            DBOS.destroy()
            raise StoreUnavailableError(
                f"The job queue {public_url} cannot be opened: {_first_line(error)}. Start "
                "its database, or set ",
                Setting("queue"),
                " to another one.",
            ) from error

    def _launch(self, url: str, names: Sequence[str]) -> None:
        """Register the queues of all extras and some others; listen to these."""
        DBOS.listen_queues(names)
        # Its own list: DBOS's function to add to it is only for before the launch.
        self._listening: Any = self._dbos._listening_queues

        # Queues that are registered after the launch are read a second late.
        with queue_client(url, NAME) as client:
            for name in {*self._queues, *names}:
                self._register(client, name)
        DBOS.launch()

    def _register(self, registry: Any, name: str) -> None:
        """Register a queue with DBOS, or with a client of its database."""
        kind = _CHUNKS if name.startswith(_CHUNKS) else _TASKS
        registry.register_queue(
            name, worker_concurrency=_AT_ONCE[kind], polling_interval_sec=self._poll_s
        )
        self._queues.add(name)

    def listen(self, needs: Iterable[str], task_needs: Iterable[str] = ()) -> None:
        """Take chunks and tasks with these needs, too, from about a second later on."""
        for name in self._name_queues(needs, task_needs):
            if name not in self._queues:
                with self._connect_errors():
                    self._register(DBOS, name)
            if name not in self._listening:
                self._listening.append(name)

    def _name_queues(self, needs: Iterable[str], task_needs: Iterable[str]) -> list[str]:
        """Names of the queues of chunks and of tasks; of the latter none where they are left."""
        names = [_CHUNKS + need for need in needs]
        if self._execute_task is not None:
            names += [_TASKS + need for need in task_needs]
        return names

    def enqueue(self, chunks: Iterable[Chunk], attempt: int, needs: str) -> None:
        """Add chunks unless they are queued already.

        Raises
        ------
        StoreUnavailableError
            The database does not answer; all methods raise it.
        """
        with self._connect_errors():
            _enqueue(chunks, attempt, needs)

    def enqueue_task(self, task: str, attempt: int, needs: str) -> None:
        """Add a task; one that is queued already is left as it is."""
        with self._connect_errors(), SetWorkflowID(_prefix(task, attempt) + _TASK):
            DBOS.enqueue_workflow(_TASKS + needs, _task, task, attempt)

    def task_state(self, task: str, attempt: int) -> tuple[TaskState, str]:
        """State of a task in the queue, and its error if any."""
        statuses = self._list(_prefix(task, attempt), output=True)
        if not statuses:
            return "unknown", ""

        (status,) = statuses
        if status.status in _UNFINISHED:
            return "open", ""
        if status.status in _FAILED:
            return "ended", _first_line(status.error or status.status)
        return "ended", ""

    def is_busy(self, job: str, attempt: int, round_number: int) -> bool:
        """Whether a chunk of a round is queued or running."""
        return bool(self._list(_prefix(job, attempt, round_number), _UNFINISHED, limit=1))

    def chunk_ids(self, job: str, attempt: int, round_number: int) -> set[str]:
        """Ids of all chunks of a round that were ever queued in an attempt."""
        start = _prefix(job, attempt)
        statuses = self._list(_prefix(job, attempt, round_number))
        return {status.workflow_id.removeprefix(start) for status in statuses}

    def errors(self, job: str, attempt: int, round_number: int) -> list[str]:
        """The errors that ended chunks of a round."""
        statuses = self._list(_prefix(job, attempt, round_number), _FAILED, limit=3, output=True)
        return [_first_line(status.error or status.status) for status in statuses]

    def running(self) -> dict[str, str]:
        """Running chunks and tasks by workflow id, each with the id of its worker."""
        statuses = self._list(None, ["PENDING"])
        return {status.workflow_id: status.executor_id or "" for status in statuses}

    def runs(self, workflow: str) -> bool:
        """Whether this process is executing a chunk or task."""
        return workflow in self._running

    def is_executing(self, job: str | None = None) -> bool:
        """Whether this process is executing anything, or something of a job or a task."""
        # A copy: threads change the set meanwhile.
        running = tuple(self._running)
        if job is None:
            return bool(running)
        return any(name.startswith(f"{job}/") for name in running)

    def requeue(self, workflows: list[str]) -> None:
        """Put running chunks and tasks back into the queue, so that other workers take them."""
        if not workflows:
            return
        with self._connect_errors():
            statuses = DBOS.list_workflows(
                workflow_ids=workflows, status=["PENDING"], load_input=False, load_output=False
            )
            ids_of_queue = group_pairs(
                (status.queue_name, status.workflow_id) for status in statuses
            )
            for name in self._queues:
                if name in ids_of_queue:
                    DBOS.resume_workflows(ids_of_queue[name], queue_name=name)

    def delete_job(self, job: str) -> None:
        """Delete all of an ended job or task: each look for work scans all that are stored."""
        with self._connect_errors():
            _delete(DBOS, job)

    def close(self, wait_s: float = 0) -> None:
        """Stop taking work, and wait for running workflows."""
        if wait_s > 0:
            for event in self._dbos.background_thread_stop_events:
                event.set()
            self._await_claimed(wait_s)
        DBOS.destroy()

    def _await_claimed(self, wait_s: float) -> None:
        """Wait until the ends of all that this process has taken are recorded.

        `DBOS.destroy` can wait, too, but looks once a second, the first time after a second.
        """
        start = last_seen = time.monotonic()
        for thread in threading.enumerate():
            # It may be taking work; a thread that is only about to start will take nothing.
            if thread.name.startswith("queue-worker-") and thread.is_alive():
                thread.join(max(0, start + min(wait_s, 10.0) - time.monotonic()))

        with suppress(StoreUnavailableError):
            while (now := time.monotonic()) < start + wait_s:
                if self._running:
                    last_seen = now
                elif now > last_seen + _RECORDING_S or self._worker not in self.running().values():
                    return
                time.sleep(0.02)

    def _execute(self, chunk: Chunk, attempt: int, needs: str) -> ChunkResult:
        with self._executing(_prefix(chunk.job, attempt) + chunk.id):
            result = self._execute_chunk(chunk, attempt)
            if result == "halved":
                _enqueue(chunk.halves(), attempt, needs)
            return result

    def _run_task(self, task: str, attempt: int) -> None:
        if self._execute_task is None:
            raise RuntimeError("this worker executes no tasks")
        with self._executing(_prefix(task, attempt) + _TASK):
            self._execute_task(task, attempt)

    @contextmanager
    def _executing(self, workflow: str) -> Iterator[None]:
        self._running.add(workflow)
        try:
            yield
        finally:
            self._running.discard(workflow)
            if self._on_end is not None:
                self._on_end()

    def _list(
        self,
        prefix: str | None,
        status: list[str] | None = None,
        *,
        limit: int | None = None,
        output: bool = False,
    ) -> list[Any]:
        with self._connect_errors():
            return DBOS.list_workflows(
                workflow_id_prefix=prefix,
                queue_name=list(self._queues),
                status=status,
                limit=limit,
                load_input=False,
                load_output=output,
            )


def _silence_dbos() -> None:
    """Keep DBOS's log from the terminal: errors that matter are raised here."""
    logger = logging.getLogger("dbos")
    logger.setLevel(logging.CRITICAL)
    # Its own handler keeps the standard error of the moment in which it is made.
    logger.handlers = [logging.NullHandler()]


def forget_work(url: str, ids: Sequence[str]) -> None:
    """Delete all chunks of some jobs, and some tasks, from a queue; the graph's state then counts.

    Raises
    ------
    StoreUnavailableError
        The queue's database does not answer.
    """
    with _connect_errors(without_password(url)), queue_client(check_url(url), NAME) as client:
        for work_id in ids:
            _delete(client, work_id)


def _delete(queue: Any, job: str) -> None:
    """Delete all of a job or task, by DBOS or a client of its database."""
    while statuses := queue.list_workflows(
        workflow_id_prefix=f"{job}/", limit=DELETE_BATCH, load_input=False, load_output=False
    ):
        queue.delete_workflows([status.workflow_id for status in statuses])


@contextmanager
def _connect_errors(url: str) -> Iterator[None]:
    """Raise database errors that DBOS does not retry as ours."""
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreUnavailableError(
            f"The job queue {url} does not answer: {_first_line(error)}."
        ) from error


def _enqueue(chunks: Iterable[Chunk], attempt: int, needs: str) -> None:
    for chunk in chunks:
        with SetWorkflowID(_prefix(chunk.job, attempt) + chunk.id):
            items = list(map(list, chunk.items))
            DBOS.enqueue_workflow(
                _CHUNKS + needs, _chunk, chunk.job, attempt, chunk.id, items, needs
            )


def _prefix(job: str, attempt: int, round_number: int | None = None) -> str:
    rest = "" if round_number is None else f"{round_number:03d}-"
    return f"{job}/{attempt}/{rest}"


def _first_line(error: object) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]
