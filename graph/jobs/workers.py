"""Workers: their heartbeats, and which of them are alive."""

from dataclasses import dataclass

from graph.database.store import GraphStore

ALIVE_S = 30.0
"""A worker whose last heartbeat is older than this many seconds is taken for dead."""

ALIVE = "w.heartbeat_at > datetime() - duration({milliseconds: $alive_ms})"


@dataclass(frozen=True)
class Worker:
    """A worker that was heard of lately.

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
    """Note that a worker lives, and on what it works.

    Parameters
    ----------
    worker : str
        Unique to its process.
    host : str
        The machine's name, for people.
    job : str or None
        The job that it works on.
    """
    store.write(
        """MERGE (w:Worker {id: $worker})
ON CREATE SET w.started_at = datetime()
SET w.heartbeat_at = datetime(), w.host = $host, w.job = $job
WITH w
CALL () {
  MATCH (old:Worker) WHERE old.heartbeat_at < datetime() - duration('P1D')
  DELETE old
}
MATCH (j:Job {id: $job})
SET j.heartbeat_at = w.heartbeat_at""",
        worker=worker,
        host=host,
        job=job,
    )


def stop_worker(store: GraphStore, worker: str) -> None:
    """Note that a worker has ended by itself."""
    store.write("MATCH (w:Worker {id: $worker}) DELETE w", worker=worker)


def workers_alive(store: GraphStore, *, within_s: float = ALIVE_S) -> list[Worker]:
    """Workers whose last heartbeat is recent by the database's own clock, by name."""
    rows = store.read(
        f"MATCH (w:Worker) WHERE {ALIVE} "
        "RETURN w.id AS id, w.host AS host, w.job AS job, "
        "(datetime().epochMillis - w.heartbeat_at.epochMillis) / 1000.0 AS silent_s ORDER BY id",
        alive_ms=int(within_s * 1000),
    )
    return [Worker(**row) for row in rows]
