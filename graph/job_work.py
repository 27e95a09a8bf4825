"""What workers report of many queries of a job at once: begun, made, found twice, and ended.

As in `graph.job_reports`, everything may be reported again, and by any number of workers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from graph.job_counts import PUT_IN, TAKE_OUT
from graph.job_reports import COUNT_CANDIDATES, NewCandidate, QueryCounts, properties_of
from graph.jobs import LOCK_JOB, SETTLE, not_found
from graph.store import GraphStore
from graph.sync import BATCH


@dataclass(frozen=True)
class Fingerprint:
    """An accepted candidate's perceptual hash."""

    query: str
    candidate: str
    fingerprint: str


def fingerprints(store: GraphStore, queries: Sequence[str]) -> list[list[Fingerprint]]:
    """Give the accepted candidates of some queries, query by query, in order of id."""
    rows = store.read(
        "UNWIND $queries AS query MATCH (c:Candidate {query: query, verdict: 'accepted'}) "
        "WHERE c.fingerprint IS NOT NULL "
        "RETURN query, c.id AS candidate, c.fingerprint AS fingerprint ORDER BY query, candidate",
        queries=list(queries),
    )
    found = [Fingerprint(**row) for row in rows]
    return [list(of_query) for _, of_query in groupby(found, key=lambda one: one.query)]


def start_queries(store: GraphStore, job: str, attempt: int, queries: Sequence[str]) -> str | None:
    """Note that queries are being worked on, and give their dataset; None where nobody should.

    Nobody should where all of them have ended, where the job has, was cancelled or is gone, and
    where it was queued again since, so that this is another attempt's work.

    Parameters
    ----------
    attempt : int
        See `graph.job_rounds.Round`.
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


def record_made(
    store: GraphStore, job: str, candidates: Mapping[str, Sequence[NewCandidate]]
) -> dict[str, QueryCounts]:
    """Write candidates of some queries, all or none, and give the counts of these queries.

    A candidate that is there already stays as it is, with what people have decided about it.

    Parameters
    ----------
    candidates : mapping of str to sequence of NewCandidate
        By the id of their query.

    Raises
    ------
    JobNotFoundError
        There is no such job: its dataset was dropped.
    """
    rows = store.write(
        f"""{LOCK_JOB}
CALL (j) {{
  UNWIND $rows AS row
  MATCH (q:JobQuery {{id: row.query}})
  MERGE (c:Candidate {{id: row.id}})
  ON CREATE SET c += row.properties, c.dataset = j.dataset, c.job = j.id, c.query = q.id,
    c.created_at = datetime()
  MERGE (c)-[:MADE_FOR]->(q)
}}
UNWIND $queries AS id
MATCH (q:JobQuery {{id: id}})
WITH j, q {TAKE_OUT}
WITH j, q{COUNT_CANDIDATES}{PUT_IN}
RETURN q.id AS query, q.n AS n, q.accepted AS accepted, q.rejected AS rejected""",
        job=job,
        queries=list(candidates),
        rows=[
            {"query": query, "id": candidate.id, "properties": properties_of(candidate)}
            for query, of_query in candidates.items()
            for candidate in of_query
        ],
    )
    if not rows and candidates:
        raise not_found("job", job)
    return {row.pop("query"): QueryCounts(**row) for row in rows}


def reject_made(store: GraphStore, job: str, reasons: Mapping[str, str]) -> None:
    """Reject candidates that were accepted, each for a reason; not those that people decided about.

    Parameters
    ----------
    reasons : mapping of str to str
        By the candidate's id.
    """
    rows = [[candidate, reason] for candidate, reason in reasons.items()]
    for start in range(0, len(rows), BATCH):
        store.write(
            f"""{LOCK_JOB}
UNWIND $rows AS row
MATCH (c:Candidate {{id: row[0]}})
WHERE c.job = j.id AND c.verdict = 'accepted' AND c.decided_at IS NULL
SET c.verdict = 'rejected', c.reason = row[1]
WITH DISTINCT j, c.query AS id
MATCH (q:JobQuery {{id: id}})
WITH j, q {TAKE_OUT}
WITH j, q{COUNT_CANDIDATES}{PUT_IN}""",
            job=job,
            rows=rows[start : start + BATCH],
        )


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


def end_job(store: GraphStore, job: str) -> None:
    """End a job, if no query of it is left to run."""
    store.write(f"{LOCK_JOB}{SETTLE}", job=job)


def read_verdicts(store: GraphStore, job: str) -> dict[str, dict[str, str | None]]:
    """Give ``verdict``, ``reason`` and ``decided_by`` of a job's candidates, by id."""
    rows = store.read(
        "MATCH (c:Candidate {job: $job}) RETURN c.id AS id, c.verdict AS verdict, "
        "coalesce(c.reason, '') AS reason, c.decided_by AS decided_by",
        job=job,
    )
    return {row.pop("id"): row for row in rows}
