"""Workers: heartbeats and liveness."""

from dataclasses import dataclass

from graph.database.store import GraphStore
from graph.jobs import reads, statements

ALIVE_S = 30.0
"""A worker whose last heartbeat is older than this many seconds is taken for dead."""


@dataclass(frozen=True)
class Worker:
    """A worker with a recent heartbeat.

    Parameters
    ----------
    id, host : str
        Its process and its machine.
    job : str or None
        What it works on.
    silent_s : float
        Seconds since its last heartbeat.
    """

    id: str
    host: str
    job: str | None
    silent_s: float


def heartbeat(store: GraphStore, worker: str, *, host: str = "", job: str | None = None) -> None:
    """Record a worker's heartbeat and current work.

    Parameters
    ----------
    worker : str
        Unique to its process.
    host : str
        The machine's name, for people.
    job : str or None
        The job that it works on.
    """
    store.write(statements.HEARTBEAT, worker=worker, host=host, job=job)


def stop_worker(store: GraphStore, worker: str) -> None:
    """Record that a worker has stopped."""
    store.write(statements.STOP_WORKER, worker=worker)


def workers_alive(store: GraphStore, *, within_s: float = ALIVE_S) -> list[Worker]:
    """List the workers with a recent heartbeat by the database's clock, by name."""
    rows = store.read(reads.WORKERS_ALIVE, alive_ms=int(within_s * 1000))
    return [Worker(**row) for row in rows]
