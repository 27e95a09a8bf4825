"""Reports of workers: heartbeats, queries started, done or failed, and the job's end.

All may be repeated, by any number of workers. Candidates are in `cobalance.graph.jobs.candidates`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cobalance.base import require_one
from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.jobs import reads, statements

ALIVE_S = 30.0
"""A worker whose last heartbeat is older than this many seconds is taken for dead."""


def start_queries(store: GraphStore, job: str, attempt: int, queries: Sequence[str]) -> str | None:
    """Mark queries as running, and return their dataset; None if they must not run.

    They must not where all of them have ended, where the job has ended, was cancelled or dropped,
    and where it was queued again since, so that this is work of an earlier attempt.

    Parameters
    ----------
    attempt : int
        See `cobalance.graph.jobs.rounds.Round`.
    queries : sequence of str
        Ids of queries of the job.
    """
    rows = store.write(statements.START_QUERIES, job=job, attempt=attempt, queries=list(queries))
    if not rows or not rows[0]["started"]:
        return None
    return rows[0]["dataset"]


def finish_queries(
    store: GraphStore, job: str, messages: Mapping[str, str], *, after: int | None = None
) -> None:
    """Mark queries as done. The job is active until `end_job`.

    Parameters
    ----------
    messages : mapping of str to str
        By the query's id: what people should know, such as that a cap was reached.
    after : int or None
        Only while this is the job's round: a decision is void once another worker has begun the
        next round.
    """
    for rows in batches([[query, message] for query, message in messages.items()]):
        store.write(statements.FINISH_QUERIES, job=job, after=after, rows=rows)


def fail_queries(
    store: GraphStore, job: str, attempt: int, queries: Sequence[str], message: str
) -> None:
    """Mark queries as failed while others of the job continue; a retry queues them again.

    Nothing is written where the job is in another `attempt` by now, see
    `cobalance.graph.jobs.rounds.Round`.
    """
    for batch in batches(list(queries)):
        store.write(
            statements.FAIL_QUERIES, job=job, attempt=attempt, message=message, queries=batch
        )


def end_job(store: GraphStore, job: str, *, note: str = "") -> None:
    """End a job that has no query left to run: done, or failed if a query failed.

    The note tells people what they should know of its images.
    """
    store.write(statements.END_JOB, job=job, note=note)


def fail_job(store: GraphStore, job: str, error: str) -> None:
    """Fail a job as a whole, for example because its model is missing.

    Its unfinished queries count as failed with the same message, so that a retry queues them.
    """
    require_one(store.write(statements.FAIL_JOB, job=job, error=error), "job", job)


@dataclass(frozen=True)
class Worker:
    """A worker process, its machine, the job or task it is at, and seconds since its heartbeat."""

    id: str
    host: str
    job: str | None
    silent_s: float


def heartbeat(
    store: GraphStore,
    worker: str,
    *,
    host: str = "",
    job: str | None = None,
    extras: Sequence[str] | None = None,
    only: Collection[str] | None = None,
) -> None:
    """Record a worker's heartbeat, which waits for no lock of a job.

    Parameters
    ----------
    worker, host : str
        Its process, and its machine.
    job : str or None
        The job or task that it is at.
    extras : sequence of str or None
        The extras and plug-ins that it has installed; None where that is not known.
    only : collection of str or None
        The jobs and tasks that it takes; None for any.
    """
    store.write(
        statements.HEARTBEAT,
        worker=worker,
        host=host,
        job=job,
        extras=None if extras is None else list(extras),
        only=None if only is None else sorted(only),
    )


def stop_worker(store: GraphStore, worker: str) -> None:
    """Record that a worker has stopped."""
    store.write(statements.STOP_WORKER, worker=worker)


def workers_alive(store: GraphStore, *, within_s: float = ALIVE_S) -> list[Worker]:
    """List the workers with a recent heartbeat by the database's clock, by name."""
    rows = store.read(reads.WORKERS_ALIVE, alive_ms=int(within_s * 1000))
    return [Worker(**row) for row in rows]
