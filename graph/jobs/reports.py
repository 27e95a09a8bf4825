"""State changes reported by workers: queries started, done or failed, and the job's end.

All may be repeated, by any number of workers. Candidates are in `graph.jobs.candidates`, workers in
`graph.jobs.workers`.
"""

from collections.abc import Mapping, Sequence

from graph.database.store import GraphStore
from graph.database.sync import BATCH
from graph.jobs import statements
from graph.jobs.lifecycle import not_found


def start_queries(store: GraphStore, job: str, attempt: int, queries: Sequence[str]) -> str | None:
    """Mark queries as running, and return their dataset; None if they must not run.

    Nobody should where all of them have ended, where the job has, was cancelled or is gone, and
    where it was queued again since, so that this is another attempt's work.

    Parameters
    ----------
    attempt : int
        See `graph.jobs.rounds.Round`.
    queries : sequence of str
        Ids of queries of the job.
    """
    rows = store.write(statements.START_QUERIES, job=job, attempt=attempt, queries=list(queries))
    return rows[0]["dataset"] if rows and rows[0]["started"] else None


def finish_queries(
    store: GraphStore, job: str, messages: Mapping[str, str], *, after: int | None = None
) -> None:
    """Mark queries as done. The job is active until `end_job`.

    Parameters
    ----------
    messages : mapping of str to str
        By the query's id: what people should know, such as that a cap was reached.
    after : int or None
        Only while this is the job's round: who decided this while others began the next one has
        seen a part of that.
    """
    rows = [[query, message] for query, message in messages.items()]
    for start in range(0, len(rows), BATCH):
        store.write(
            statements.FINISH_QUERIES, job=job, after=after, rows=rows[start : start + BATCH]
        )


def fail_queries(
    store: GraphStore, job: str, attempt: int, queries: Sequence[str], message: str
) -> None:
    """Mark queries as failed while others of the job continue; a retry queues them again.

    Nothing is noted where the job was queued again since.

    Parameters
    ----------
    attempt : int
        See `graph.jobs.rounds.Round`.
    """
    for start in range(0, len(queries), BATCH):
        store.write(
            statements.FAIL_QUERIES,
            job=job,
            attempt=attempt,
            message=message,
            queries=list(queries[start : start + BATCH]),
        )


def end_job(store: GraphStore, job: str, *, note: str = "") -> None:
    """End a job that has no query left to run: done, or failed if a query failed.

    Parameters
    ----------
    note : str
        What people should know of its images.
    """
    store.write(statements.END_JOB, job=job, note=note)


def fail_job(store: GraphStore, job: str, error: str) -> None:
    """Fail a job as a whole, for example because its model is missing.

    Its unfinished queries count as failed with the same message, so that a retry queues them.
    """
    rows = store.write(statements.FAIL_JOB, job=job, error=error)
    if not rows:
        raise not_found("job", job)
