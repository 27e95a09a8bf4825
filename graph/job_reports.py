"""What workers report of a job, and what people decide about its candidates.

All may be repeated: a worker that was killed reports again what it is not sure to have reported.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.errors import OptionError, StoreError, UnknownNameError
from graph.job_counts import PUT_IN, RECOUNT, TAKE_OUT
from graph.jobs import LOCK_JOB, SETTLE, VERDICTS, JobState, Verdict, not_found
from graph.store import GraphStore

_LOCK_QUERY = f"""MATCH (q:JobQuery {{id: $query}})
MATCH (j:Job {{id: q.job}})
SET j.updated_at = datetime()
WITH j, q {TAKE_OUT}WITH j, q """

# Counted anew from the candidates in every write that adds or decides one: nothing can drift.
COUNT_CANDIDATES = """
CALL (q) {
  OPTIONAL MATCH (c:Candidate {query: q.id})
  WITH q, sum(CASE c.verdict WHEN 'accepted' THEN 1 ELSE 0 END) AS accepted,
    count(c) AS made, coalesce(sum(c.seconds), 0.0) AS seconds
  SET q.accepted = accepted, q.rejected = made - accepted, q.seconds = toFloat(seconds)
}"""


@dataclass(frozen=True)
class NewCandidate:
    """An image that a worker has made for a query, judged by its filters.

    Parameters
    ----------
    id : str
        Unique in the store; the same whenever the same image is made again, such as the query's
        id and a number.
    uri : str or None
        Where the image is; None for one that was not kept.
    verdict : {"accepted", "rejected"}
        The filters'.
    scores : mapping of str to float
        By filter.
    reason : str
        Why it was rejected, for people.
    source_image, source_uri, mask_uri : str or None
        The original that the object was taken from: its image's id, where it is, and the mask.
    seed : int or None
        Of its random generator, as a signed 64-bit number.
    seconds : float or None
        How long it took to make and judge: its part of the time of its batch.
    fingerprint : str or None
        A perceptual hash: candidates of a query with nearly the same one look the same.
    provenance : mapping
        With what it was made, and in which batch; anything that JSON can hold.
    """

    id: str
    uri: str | None
    verdict: Verdict
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    source_image: str | None = None
    source_uri: str | None = None
    mask_uri: str | None = None
    seed: int | None = None
    seconds: float | None = None
    fingerprint: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_verdict(self.verdict)
        if self.seconds is not None and not self.seconds >= 0:
            raise OptionError(f"Candidate {self.id!r} took {self.seconds} seconds.")


def properties_of(candidate: NewCandidate) -> dict[str, Any]:
    """What the graph keeps of a candidate, beside its id and its query."""
    return {
        "uri": candidate.uri,
        "source_image": candidate.source_image,
        "source_uri": candidate.source_uri,
        "mask_uri": candidate.mask_uri,
        "scores": json.dumps(dict(candidate.scores), ensure_ascii=False, sort_keys=True),
        "verdict": candidate.verdict,
        "reason": candidate.reason,
        "seed": candidate.seed,
        "seconds": candidate.seconds,
        "fingerprint": candidate.fingerprint,
        "provenance": json.dumps(dict(candidate.provenance), ensure_ascii=False, sort_keys=True),
    }


@dataclass(frozen=True)
class QueryCounts:
    """How far a query is.

    Parameters
    ----------
    n : int
        Images wanted.
    accepted, rejected : int
        Its candidates.
    """

    n: int
    accepted: int
    rejected: int


def start_query(store: GraphStore, query: str) -> bool:
    """Note that a query is being worked on; return False where nobody should.

    It should not where it has ended, and where its job was cancelled or has ended.

    Raises
    ------
    JobNotFoundError
        There is no such query.
    """
    rows = store.write(
        f"""{_LOCK_QUERY}
CALL (j, q) {{
  WITH j, q
  WHERE j.state IN ['queued', 'running'] AND q.state IN ['queued', 'running']
  SET j.state = 'running', j.started_at = coalesce(j.started_at, datetime()),
    q.state = 'running', q.started_at = coalesce(q.started_at, datetime())
  RETURN count(q) AS started
}}{PUT_IN}
RETURN started""",
        query=query,
    )
    if not rows:
        raise not_found("query", query)
    return bool(rows[0]["started"])


def record_candidates(
    store: GraphStore, query: str, candidates: Sequence[NewCandidate]
) -> QueryCounts:
    """Write candidates of a query, all or none, and give its counts.

    A candidate that is there already stays as it is, with what people have decided about it.

    Raises
    ------
    JobNotFoundError
        There is no such query: its dataset was dropped.
    StoreError
        A candidate of that id belongs to another query.
    """
    rows = [
        {"id": candidate.id, "properties": properties_of(candidate)} for candidate in candidates
    ]
    foreign = store.read(
        "UNWIND $ids AS id MATCH (c:Candidate {id: id}) WHERE c.query <> $query "
        "RETURN c.id AS id, c.query AS query",
        ids=[candidate.id for candidate in candidates],
        query=query,
    )
    if foreign:
        raise StoreError(
            f"Candidate {foreign[0]['id']!r} belongs to the query {foreign[0]['query']!r}, not to "
            f"{query!r}. Give it another id."
        )
    counts = store.write(
        f"""{_LOCK_QUERY}
CALL (j, q) {{
  UNWIND $rows AS row
  MERGE (c:Candidate {{id: row.id}})
  ON CREATE SET c += row.properties, c.dataset = j.dataset, c.job = j.id, c.query = q.id,
    c.created_at = datetime()
  WITH q, c WHERE c.query = q.id
  MERGE (c)-[:MADE_FOR]->(q)
}}{COUNT_CANDIDATES}{PUT_IN}
RETURN q.n AS n, q.accepted AS accepted, q.rejected AS rejected""",
        query=query,
        rows=rows,
    )
    if not counts:
        raise not_found("query", query)
    return QueryCounts(**counts[0])


def finish_query(store: GraphStore, query: str, message: str = "") -> None:
    """Note that a query is done; the job ends with its last one.

    Parameters
    ----------
    message : str
        What people should know, such as that a cap was reached before all images were accepted.
    """
    _end_query(store, query, "done", message)


def fail_query(store: GraphStore, query: str, error: str) -> None:
    """Note that a query has failed, and why; the job ends with its last one."""
    _end_query(store, query, "failed", error)


def _end_query(store: GraphStore, query: str, state: str, message: str) -> None:
    rows = store.write(
        f"""{_LOCK_QUERY}
CALL (q) {{
  WITH q WHERE q.state IN ['queued', 'running']
  SET q.state = $state, q.message = $message, q.ended_at = datetime()
}}{PUT_IN}WITH j, q{SETTLE}
RETURN q.id""",
        query=query,
        state=state,
        message=message,
    )
    if not rows:
        raise not_found("query", query)


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


def heartbeat(
    store: GraphStore, worker: str, *, host: str = "", job: str | None = None
) -> JobState | None:
    """Note that a worker lives, and on what it works; return the job's state.

    Parameters
    ----------
    worker : str
        Unique to its process.
    host : str
        The machine's name, for people.
    job : str or None
        The job that it works on.

    Returns
    -------
    JobState or None
        ``cancelled`` tells the worker to stop; None is for no job, or one that is gone.
    """
    (row,) = store.write(
        """MERGE (w:Worker {id: $worker})
ON CREATE SET w.started_at = datetime()
SET w.heartbeat_at = datetime(), w.host = $host, w.job = $job
WITH w
CALL () {
  MATCH (old:Worker) WHERE old.heartbeat_at < datetime() - duration('P1D')
  DELETE old
}
OPTIONAL MATCH (j:Job {id: $job})
SET j.heartbeat_at = w.heartbeat_at
RETURN j.state AS state""",
        worker=worker,
        host=host,
        job=job,
    )
    state: JobState | None = row["state"]
    return state


def stop_worker(store: GraphStore, worker: str) -> None:
    """Note that a worker has ended by itself."""
    store.write("MATCH (w:Worker {id: $worker}) DELETE w", worker=worker)


def decide(store: GraphStore, candidate: str, verdict: Verdict, by: str) -> QueryCounts:
    """Accept or reject a candidate by hand, and give its query's counts.

    The filters' reason and scores stay. The query's state stays too: one that is done with too few
    accepted images is queued again by ``retry_job(..., short=True)``.

    Parameters
    ----------
    by : str
        Who decides; empty where nobody logs in.

    Raises
    ------
    JobNotFoundError
        There is no such candidate.
    OptionError
        It is to be accepted, and has no file: none could be made, or it was not kept.
    """
    _check_verdict(verdict)
    rows = store.write(
        f"""MATCH (c:Candidate {{id: $candidate}})
WHERE $verdict = 'rejected' OR c.uri IS NOT NULL
MATCH (q:JobQuery {{id: c.query}})
MATCH (j:Job {{id: c.job}})
SET j.updated_at = datetime()
WITH j, q, c {TAKE_OUT}
SET c.verdict = $verdict, c.decided_by = $by, c.decided_at = datetime()
WITH j, q{COUNT_CANDIDATES}{PUT_IN}
RETURN q.n AS n, q.accepted AS accepted, q.rejected AS rejected""",
        candidate=candidate,
        verdict=verdict,
        by=by,
    )
    if not rows:
        if store.read("MATCH (c:Candidate {id: $id}) RETURN c.id", id=candidate):
            raise OptionError(
                f"Candidate {candidate!r} has no file, and cannot be accepted. Accept another one, "
                "or queue its query again."
            )
        raise not_found("candidate", candidate)
    return QueryCounts(**rows[0])


def _check_verdict(verdict: str) -> None:
    if verdict not in VERDICTS:
        raise UnknownNameError("verdict", verdict, VERDICTS)
