"""The queue of chunks: DBOS on SQLite or Postgres, where a chunk is once, and done once.

What the queue holds is execution alone, as JSON: which chunks wait, which run where, which have
ended. What was ordered and what became of it are in the graph, and the files in the output folder.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbos import DBOS, SetWorkflowID
from dbos import Serializer as _Serializer
from dbos._serialization import DefaultSerializer as _Pickling
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from generation.jobs.chunks import Chunk
from graph.errors import OptionError, StoreUnavailableError

NAME = "cobalance"
EXTRAS = ("worker", "models")
"""The parts of cobalance that a chunk may need: each has a queue of its own."""
_QUEUES = {extra: f"chunks-{extra}" for extra in EXTRAS}
_VERSION = "1"  # of the workflow below; workers of another one leave its chunks alone
_UNFINISHED = ["ENQUEUED", "PENDING", "DELAYED"]
_ENDED_BADLY = ["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]

# A chunk is read and written while another one computes.
_AT_ONCE = 2
_DELETED_AT_ONCE = 500  # rows, by their ids; SQLite takes no more than 999 of these

Outcome = str
"""``done``, ``left`` for one that nobody wants any more, or ``halved``."""

_work: Callable[[Chunk, int], Outcome] | None = None
_ended: Callable[[], None] | None = None
_here: set[str] = set()  # the workflows that this process is in


class _Json(_Serializer):
    """Plain JSON, where DBOS would pickle."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, default=str)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "cobalance_json"


def _read_no_pickle(*_: object) -> None:
    raise TypeError("The job queue holds a pickle. Pickles can run anything, and are not read.")


# DBOS goes by what a row says, whatever its own serializer is.
_Pickling.deserialize = _read_no_pickle  # type: ignore[assignment]


@DBOS.workflow(name="chunk", max_recovery_attempts=1000)
def _chunk(job: str, attempt: int, identity: str, items: list[list[int]], extra: str) -> Outcome:
    if _work is None:
        raise RuntimeError("the queue is not open")
    chunk = Chunk(job, identity, tuple((query, index) for query, index in items))
    name = _prefix(job, attempt) + identity
    _here.add(name)
    try:
        outcome = _work(chunk, attempt)
        if outcome == "halved":
            _enqueue(chunk.halves(), attempt, extra)
        return outcome
    finally:
        _here.discard(name)
        if _ended is not None:
            _ended()


class Queue:
    """The queue, as one process sees it. There is one a process at a time.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql://user:password@host:port/database``.
    worker : str
        Unique to the process: who runs a chunk.
    work : callable
        Makes a chunk, given it and the job's attempt. Called in threads, two at a time; what it
        raises ends the chunk for good.
    poll_s : float
        How often to look for chunks.
    extras : sequence of str
        Of `EXTRAS`: only chunks that need no other are taken.
    ended : callable, optional
        Called after each chunk, in its thread.

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
        work: Callable[[Chunk, int], Outcome],
        poll_s: float = 0.3,
        extras: Sequence[str] = EXTRAS,
        ended: Callable[[], None] | None = None,
    ) -> None:
        global _work, _ended
        checked = check_url(url)
        self._public = public(url)
        _work, _ended = work, ended
        logger = logging.getLogger("dbos")  # what matters is raised here
        logger.setLevel(logging.CRITICAL)
        logger.handlers = [logging.NullHandler()]  # its own keeps the standard error of now
        DBOS(
            config={
                "name": NAME,
                "system_database_url": checked,
                "application_version": _VERSION,
                "executor_id": worker,
                "serializer": _Json(),
                "notification_coalesce_sec": 1.0,  # of events, which there are none of
                "log_level": "CRITICAL",
            }
        )
        try:
            DBOS.listen_queues([_QUEUES[extra] for extra in extras])
            DBOS.launch()
            for name in _QUEUES.values():
                DBOS.register_queue(
                    name,
                    worker_concurrency=_AT_ONCE,
                    polling_interval_sec=poll_s,
                    on_conflict="always_update",
                )
        except Exception as error:  # whatever the driver of the database raises
            DBOS.destroy()
            raise StoreUnavailableError(
                f"The job queue {public(url)} cannot be opened: {_first_line(error)}. Start its "
                "database, or name another one with COBALANCE_QUEUE."
            ) from error

    def enqueue(self, chunks: Iterable[Chunk], attempt: int, extra: str) -> None:
        """Add chunks; those that are there already stay as they are.

        Parameters
        ----------
        extra : str
            Of `EXTRAS`, what a worker must have to make them.

        Raises
        ------
        StoreUnavailableError
            The database does not answer. So it is for all that follows.
        """
        with self._in_our_words():
            _enqueue(chunks, attempt, extra)

    def is_busy(self, job: str, attempt: int, round_number: int) -> bool:
        """Whether a chunk of a round waits or runs."""
        return bool(self._list(_prefix(job, attempt, round_number), _UNFINISHED, limit=1))

    def known(self, job: str, attempt: int, round_number: int) -> set[str]:
        """The ids of all chunks of a round that were ever added in this attempt."""
        start = _prefix(job, attempt)
        found = self._list(_prefix(job, attempt, round_number))
        return {status.workflow_id.removeprefix(start) for status in found}

    def errors(self, job: str, attempt: int, round_number: int) -> list[str]:
        """What ended chunks of a round for good."""
        found = self._list(_prefix(job, attempt, round_number), _ENDED_BADLY, limit=3, output=True)
        return [_first_line(status.error or status.status) for status in found]

    def running(self) -> dict[str, str]:
        """The chunks that run, with who runs them."""
        found = self._list(None, ["PENDING"])
        return {status.workflow_id: status.executor_id or "" for status in found}

    def is_here(self, workflow: str) -> bool:
        """Whether this process is making a chunk, or reporting it."""
        return workflow in _here

    def is_making(self, job: str | None = None) -> bool:
        """Whether this process has a chunk under way; of a job, if one is named."""
        return any(job is None or name.startswith(f"{job}/") for name in tuple(_here))

    def give_back(self, workflows: list[str]) -> None:
        """Put chunks that nobody makes back into the queue."""
        if not workflows:
            return
        with self._in_our_words():
            found = DBOS.list_workflows(
                workflow_ids=workflows, status=["PENDING"], load_input=False, load_output=False
            )
            for name in _QUEUES.values():
                of_queue = [one.workflow_id for one in found if one.queue_name == name]
                if of_queue:
                    DBOS.resume_workflows(of_queue, queue_name=name)

    def forget(self, job: str) -> None:
        """Delete a job that has ended: each look for work goes through all that was ever queued."""
        with self._in_our_words():
            while found := self._list(f"{job}/", limit=_DELETED_AT_ONCE):
                DBOS.delete_workflows([status.workflow_id for status in found])

    def close(self, wait_s: int = 0) -> None:
        """Take no more chunks, and give those that run some time to end."""
        DBOS.destroy(workflow_completion_timeout_sec=wait_s)

    def _list(
        self,
        prefix: str | None,
        status: list[str] | None = None,
        *,
        limit: int | None = None,
        output: bool = False,
    ) -> list[Any]:
        with self._in_our_words():
            return DBOS.list_workflows(
                workflow_id_prefix=prefix,
                queue_name=list(_QUEUES.values()),
                status=status,
                limit=limit,
                load_input=False,
                load_output=output,
            )

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        """DBOS waits for a database that it takes to be away, and not for every one that is."""
        try:
            yield
        except SQLAlchemyError as error:
            raise StoreUnavailableError(
                f"The job queue {self._public} does not answer: {_first_line(error)}."
            ) from error


def _enqueue(chunks: Iterable[Chunk], attempt: int, extra: str) -> None:
    for chunk in chunks:
        with SetWorkflowID(_prefix(chunk.job, attempt) + chunk.id):
            items = [list(item) for item in chunk.items]
            DBOS.enqueue_workflow(
                _QUEUES[extra], _chunk, chunk.job, attempt, chunk.id, items, extra
            )


def _prefix(job: str, attempt: int, round_number: int | None = None) -> str:
    rest = "" if round_number is None else f"{round_number:03d}-"
    return f"{job}/{attempt}/{rest}"


def check_url(url: str) -> str:
    """Give the URL of a queue as DBOS takes it; a folder that is missing is made for SQLite.

    Raises
    ------
    OptionError
        It is neither SQLite's nor Postgres'.

    Examples
    --------
    >>> check_url("mysql://host/db")
    Traceback (most recent call last):
    ...
    graph.errors.OptionError: The job queue mysql://host/db is neither sqlite:///path nor \
postgresql://user:password@host:port/database. Name one of these with COBALANCE_QUEUE.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    kind = parsed.get_backend_name() if parsed is not None else ""
    if parsed is None or kind not in ("sqlite", "postgresql"):
        raise OptionError(
            f"The job queue {public(url)} is neither sqlite:///path nor "
            "postgresql://user:password@host:port/database. Name one of these with "
            "COBALANCE_QUEUE."
        )
    if kind == "sqlite" and parsed.database:
        try:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise OptionError(
                f"The folder of the job queue {url} cannot be made: {error.strerror}. Name another "
                "one with COBALANCE_QUEUE."
            ) from error
    return url


def public(url: str) -> str:
    """Give a URL without its password.

    Examples
    --------
    >>> public("postgresql://me:secret@host/db")
    'postgresql://me:***@host/db'
    """
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no URL)"


def _first_line(error: object) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]
