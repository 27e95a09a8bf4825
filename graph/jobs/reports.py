"""Reports of workers: which queries of a job are begun, done or failed, and when it ends.

All may be repeated, by any number of workers. Candidates are in `graph.jobs.candidates`, workers in
`graph.jobs.workers`.
"""

from collections.abc import Mapping, Sequence

from graph.database.store import GraphStore
from graph.database.sync import BATCH
from graph.jobs.counters import PUT_IN, RECOUNT, TAKE_OUT
from graph.jobs.lifecycle import LOCK_JOB, not_found


def start_queries(store: GraphStore, job: str, attempt: int, queries: Sequence[str]) -> str | None:
    """Note that queries are being worked on, and give their dataset; None where nobody should.

    Nobody should where all of them have ended, where the job has, was cancelled or is gone, and
    where it was queued again since, so that this is another attempt's work.

    Parameters
    ----------
    attempt : int
        See `graph.jobs.rounds.Round`.
    queries : sequence of str
        Ids of queries of the job.
    """
    rows = store.write(
        f"""{LOCK_JOB}
WHERE j.state IN ['queued', 'running'] AND coalesce(j.attempt, 0) = $attempt
CALL (j) {{
  UNWIND $queries AS id
  MATCH (q:JobQuery {{id: id}}) WHERE q.state IN ['queued', 'running']
  WITH j, q {TAKE_OUT}
  SET j.state = 'running', j.started_at = coalesce(j.started_at, datetime()),
    q.state = 'running', q.started_at = coalesce(q.started_at, datetime()) {PUT_IN}
  RETURN count(q) AS started
}}
RETURN started, j.dataset AS dataset""",
        job=job,
        attempt=attempt,
        queries=list(queries),
    )
    return rows[0]["dataset"] if rows and rows[0]["started"] else None


def finish_queries(
    store: GraphStore, job: str, messages: Mapping[str, str], *, after: int | None = None
) -> None:
    """Note that queries are done. The job goes on until `end_job`.

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
            f"""{LOCK_JOB}
WHERE $after IS NULL OR j.round = $after
UNWIND $rows AS row
MATCH (q:JobQuery {{id: row[0]}}) WHERE q.state IN ['queued', 'running']
WITH j, q, row {TAKE_OUT}
SET q.state = 'done', q.message = row[1], q.ended_at = datetime() {PUT_IN}""",
            job=job,
            after=after,
            rows=rows[start : start + BATCH],
        )


def fail_queries(
    store: GraphStore, job: str, attempt: int, queries: Sequence[str], message: str
) -> None:
    """Note that queries cannot go on, while others of the job can; a retry queues them.

    Nothing is noted where the job was queued again since.

    Parameters
    ----------
    attempt : int
        See `graph.jobs.rounds.Round`.
    """
    for start in range(0, len(queries), BATCH):
        store.write(
            f"""{LOCK_JOB}
WHERE coalesce(j.attempt, 0) = $attempt
UNWIND $queries AS id
MATCH (q:JobQuery {{id: id}}) WHERE q.state IN ['queued', 'running']
WITH j, q {TAKE_OUT}
SET q.state = 'failed', q.message = $message, q.ended_at = datetime() {PUT_IN}""",
            job=job,
            attempt=attempt,
            message=message,
            queries=list(queries[start : start + BATCH]),
        )


def end_job(store: GraphStore, job: str, *, note: str = "") -> None:
    """Note that a job has ended, if no query of it is left to run: it is done unless one failed.

    Parameters
    ----------
    note : str
        What people should know of its images.
    """
    store.write(
        f"""{LOCK_JOB}
WHERE j.state IN ['queued', 'running'] AND NOT EXISTS {{
  MATCH (q:JobQuery {{job: j.id}}) WHERE q.state IN ['queued', 'running']
}}
CALL (j) {{
  MATCH (q:JobQuery {{job: j.id, state: 'failed'}})
  WITH DISTINCT q.message AS message ORDER BY message
  RETURN collect(message) AS messages
}}
SET j.state = CASE WHEN j.failed = 0 THEN 'done' ELSE 'failed' END,
  j.error = reduce(text = '', message IN messages |
    CASE text WHEN '' THEN message ELSE text + '\n' + message END),
  j.note = $note, j.ended_at = datetime()""",
        job=job,
        note=note,
    )


def fail_job(store: GraphStore, job: str, error: str) -> None:
    """End a job that cannot go on whatever its queries are, such as for want of a model.

    Its unfinished queries count as failed with the same message, so that a retry queues them.
    """
    rows = store.write(
        f"""{LOCK_JOB}
CALL (j) {{
  WITH j WHERE j.state IN ['queued', 'running']
  SET j.state = 'failed', j.error = $error, j.ended_at = datetime()
  WITH j
  MATCH (q:JobQuery {{job: j.id}}) WHERE q.state IN ['queued', 'running']
  SET q.state = 'failed', q.message = $error, q.ended_at = datetime()
}}{RECOUNT}
RETURN j.id""",
        job=job,
        error=error,
    )
    if not rows:
        raise not_found("job", job)
