"""Named Cypher writes of jobs: state transitions under the job's lock, and new nodes."""

from graph.database.query import Statement
from graph.database.schema import CANDIDATE, JOB, JOB_QUERY
from graph.database.statements import merge_clause
from graph.jobs.counters import (
    ENDED,
    MADE,
    MADE_OR_ENDED,
    PUT_IN_NEW,
    RECOUNT,
    STARTED,
    put_in,
    take_out,
)

_LOCK = "MATCH (j:Job {id: $job}) SET j.updated_at = datetime() WITH j"
"""Begin a write to a job, one at a time."""

_OPEN = "q.state IN ['queued', 'running']"

# Counted anew from the candidates in every write that adds or decides one: nothing can drift.
_COUNT_CANDIDATES = """
CALL (q) {
  OPTIONAL MATCH (c:Candidate {query: q.id})
  WITH q, sum(CASE c.verdict WHEN 'accepted' THEN 1 ELSE 0 END) AS accepted,
    sum(CASE c.verdict WHEN 'pending' THEN 1 ELSE 0 END) AS pending,
    count(c) AS kept, coalesce(sum(c.seconds), 0.0) AS seconds
  SET q.accepted = accepted, q.pending = pending,
    q.rejected = kept + coalesce(q.dropped, 0) - accepted - pending,
    q.seconds = seconds + coalesce(q.dropped_seconds, 0.0)
}"""

# The accepted stay, the one that a person has just chosen before all, then those that people chose
# last; the rest of the seats go to the best, except those that people have rejected.
_CHOOSE_BEST = """
CALL (q) {
  MATCH (c:Candidate {query: q.id})
  WHERE q.settled IS NOT NULL
    AND (c.verdict = 'accepted' OR c.rank IS NOT NULL AND c.decided_at IS NULL)
  WITH q, c ORDER BY c.verdict <> 'accepted', coalesce(c.id <> $chosen, false),
    c.decided_at IS NULL, c.decided_at DESC, c.rank, c.id
  WITH q, collect(c) AS found
  FOREACH (c IN found[..q.n] |
    SET c.reason = CASE c.verdict WHEN 'accepted' THEN c.reason ELSE '' END,
      c.verdict = 'accepted')
  FOREACH (c IN found[q.n..] |
    SET c.reason = CASE c.verdict WHEN 'accepted' THEN $displaced ELSE c.reason END,
      c.verdict = 'rejected', c.decided_by = null, c.decided_at = null)
}"""

CREATE_JOB = Statement(
    "Create a job unless it exists, under the lock that a drop or rename of the dataset takes.",
    f"""
MATCH (d:Dataset {{name: $dataset}}) SET d.updated_at = d.updated_at
WITH d, $row AS row WHERE d.renaming_to IS NULL AND d.digest IS NOT NULL
{merge_clause(JOB, "j", "row")}, j.dataset = d.name, j.dataset_digest = d.digest,
  j.created_at = datetime(), j.updated_at = datetime()
RETURN j.state AS state""",
)

ADD_QUERIES = Statement(
    "Add queries to a job that is being written, with edges to class and clique or image.",
    f"""
{_LOCK} WHERE j.state = 'preparing'
UNWIND $rows AS row
{merge_clause(JOB_QUERY, "q", "row")}, q.dataset = j.dataset, q.job = j.id
WITH j, q, NOT EXISTS {{ (j)-[:RUNS]->(q) }} AS new
MERGE (j)-[:RUNS]->(q)
WITH j, q, new
CALL (j, q) {{
  OPTIONAL MATCH (y:Class {{dataset: j.dataset, name: q.class_name}})
  OPTIONAL MATCH (k:Clique {{dataset: j.dataset, concepts: q.concepts}})
  WHERE q.source_image IS NULL
  OPTIONAL MATCH (i:Image {{dataset: j.dataset, id: q.source_image}})
  FOREACH (end IN CASE WHEN y IS NULL THEN [] ELSE [y] END | MERGE (q)-[:FOR_CLASS]->(end))
  FOREACH (end IN CASE WHEN k IS NULL THEN [] ELSE [k] END | MERGE (q)-[:REBALANCES]->(end))
  FOREACH (end IN CASE WHEN i IS NULL THEN [] ELSE [i] END | MERGE (q)-[:EDITS]->(end))
}}{PUT_IN_NEW}
RETURN written""",
)

COMPLETE_JOB = Statement(
    "Queue a job whose queries are all written.",
    f"{_LOCK} WHERE j.state = 'preparing' SET j.state = 'queued', j.complete = true",
)

DISCARD_QUERIES = Statement(
    "Delete some queries of a job.",
    """
MATCH (q:JobQuery {job: $job}) WITH q LIMIT $batch DETACH DELETE q RETURN count(*) AS deleted""",
)

DISCARD_JOB = Statement("Delete a job.", "MATCH (j:Job {id: $job}) DETACH DELETE j")

CANCEL_JOB = Statement(
    "Cancel a job unless it has ended; its running queries are queued.",
    f"""
{_LOCK}
CALL (j) {{
  WITH j WHERE j.state IN ['preparing', 'queued', 'running']
  SET j.state = 'cancelled', j.ended_at = datetime()
  WITH j
  MATCH (q:JobQuery {{job: j.id, state: 'running'}})
  SET q.state = 'queued'
}}{RECOUNT}
RETURN j.state AS state""",
)

RETRY_JOB = Statement(
    "Queue the failed queries of a job again, and short ones if asked.",
    f"""
{_LOCK} WHERE j.state = 'preparing' OR coalesce(j.complete, true)
CALL (j) {{
  MATCH (q:JobQuery {{job: j.id}})
  WHERE j.state <> 'preparing' AND (q.state = 'failed'
    OR $short AND q.state = 'done' AND q.accepted < q.n)
  WITH j, q, q.state = 'failed' AS failed
  SET q.more = CASE WHEN j.best_of > 1 AND q.state = 'done'
      THEN coalesce(q.more, 0) + (q.n - q.accepted) * j.best_of ELSE q.more END,
    q.state = 'queued', q.message = '', q.ended_at = null,
    q.retries = coalesce(q.retries, 0) + 1
  RETURN count(q) AS queued, count(CASE WHEN failed THEN 1 END) AS failed
}}
// While a job runs, chunks of failed queries have ended, and are to be queued anew.
SET j.attempt = coalesce(j.attempt, 0)
  + CASE WHEN j.state IN ['queued', 'running'] AND failed > 0 THEN 1 ELSE 0 END
WITH j, queued
CALL (j, queued) {{
  WITH j, queued
  WHERE queued > 0 AND j.state = 'done' OR j.state = 'failed' OR j.state = 'cancelled'
    AND EXISTS {{ MATCH (:JobQuery {{job: j.id, state: 'queued'}}) }}
  SET j.state = 'queued', j.ended_at = null, j.error = null, j.note = null,
    j.attempt = coalesce(j.attempt, 0) + 1
}}{RECOUNT}
RETURN queued""",
)

START_QUERIES = Statement(
    "Mark queries as running, in this attempt of the job.",
    f"""
{_LOCK} WHERE j.state IN ['queued', 'running'] AND coalesce(j.attempt, 0) = $attempt
CALL (j) {{
  UNWIND $queries AS id
  MATCH (q:JobQuery {{id: id}}) WHERE {_OPEN}
  WITH j, q {take_out(*STARTED)}
  SET j.state = 'running', j.started_at = coalesce(j.started_at, datetime()),
    q.state = 'running', q.started_at = coalesce(q.started_at, datetime()) {put_in(*STARTED)}
  RETURN count(q) AS started
}}
RETURN started, j.dataset AS dataset""",
)

FINISH_QUERIES = Statement(
    "Mark queries as done, if the job is in the given round or none is given.",
    f"""
{_LOCK} WHERE $after IS NULL OR j.round = $after
UNWIND $rows AS row
MATCH (q:JobQuery {{id: row[0]}}) WHERE {_OPEN}
WITH j, q, row {take_out(*ENDED)}
SET q.state = 'done', q.message = row[1], q.ended_at = datetime() {put_in(*ENDED)}""",
)

FAIL_QUERIES = Statement(
    "Mark queries as failed, in this attempt of the job.",
    f"""
{_LOCK} WHERE coalesce(j.attempt, 0) = $attempt
UNWIND $queries AS id
MATCH (q:JobQuery {{id: id}}) WHERE {_OPEN}
WITH j, q {take_out(*ENDED)}
SET q.state = 'failed', q.message = $message, q.ended_at = datetime() {put_in(*ENDED)}""",
)

END_JOB = Statement(
    "End a job that has no query left to run; it is done unless one failed.",
    f"""
{_LOCK} WHERE j.state IN ['queued', 'running'] AND NOT EXISTS {{
  MATCH (q:JobQuery {{job: j.id}}) WHERE {_OPEN}
}}
CALL (j) {{
  MATCH (q:JobQuery {{job: j.id, state: 'failed'}})
  WITH DISTINCT q.message AS message ORDER BY message
  RETURN collect(message) AS messages
}}
SET j.state = CASE WHEN j.failed = 0 THEN 'done' ELSE 'failed' END,
  j.error = reduce(text = '', message IN messages |
    CASE text WHEN '' THEN message ELSE text + '\\n' + message END),
  j.note = $note, j.ended_at = datetime()""",
)

FAIL_JOB = Statement(
    "End a job that cannot go on; its unfinished queries fail with the same message.",
    f"""
{_LOCK}
CALL (j) {{
  WITH j WHERE j.state IN ['queued', 'running']
  SET j.state = 'failed', j.error = $error, j.ended_at = datetime()
  WITH j
  MATCH (q:JobQuery {{job: j.id}}) WHERE {_OPEN}
  SET q.state = 'failed', q.message = $error, q.ended_at = datetime()
}}{RECOUNT}
RETURN j.id AS job""",
)

BEGIN_ROUND = Statement(
    "Begin a job's next round, unless another worker has.",
    f"""
{_LOCK} WHERE coalesce(j.round, -1) = $number - 1
SET j.round = $number, j.round_spans = $spans, j.best_of = $best_of""",
)

ADD_CANDIDATES = Statement(
    "Add candidates to queries of a job, and end those that are complete by them if asked.",
    f"""
{_LOCK}
CALL (j) {{
  UNWIND $rows AS row
  MATCH (q:JobQuery {{id: row.query}}) WHERE coalesce(q.dropped, 0) = 0 OR row.index >= q.settled
  {merge_clause(CANDIDATE, "c", "row")}, c.dataset = j.dataset, c.job = j.id, c.query = q.id,
    c.created_at = datetime(), c.verdict = CASE WHEN j.best_of > 1
      AND row.properties.verdict = 'accepted' THEN 'pending' ELSE row.properties.verdict END
  WITH q, c WHERE c.query = q.id
  MERGE (c)-[:MADE_FOR]->(q)
}}
UNWIND $queries AS row
MATCH (q:JobQuery {{id: row[0]}})
WITH j, q, row {take_out(*MADE_OR_ENDED)}
WITH j, q, row{_COUNT_CANDIDATES}
FOREACH (_ IN CASE
    WHEN $finish AND {_OPEN} AND coalesce(j.best_of, 1) = 1
      AND q.accepted >= q.n AND q.accepted + q.rejected = row[1]
    THEN [1] ELSE [] END |
  SET q.state = 'done', q.message = '', q.ended_at = datetime()
){put_in(*MADE_OR_ENDED)}
RETURN q.id AS query, q.n AS n, q.accepted AS accepted, q.rejected AS rejected,
  q.pending AS pending""",
)

REJECT_CANDIDATES = Statement(
    "Reject accepted and pending candidates, except those decided by people.",
    f"""
{_LOCK}
UNWIND $rows AS row
MATCH (c:Candidate {{id: row[0]}})
WHERE c.job = j.id AND c.verdict IN ['accepted', 'pending'] AND c.decided_at IS NULL
SET c.verdict = 'rejected', c.reason = row[1]
WITH DISTINCT j, c.query AS id
MATCH (q:JobQuery {{id: id}})
WITH j, q {take_out(*MADE)}
WITH j, q{_COUNT_CANDIDATES}{put_in(*MADE)}""",
)

SETTLE_QUERIES = Statement(
    "Choose the best candidates of complete queries by their ranks, and end the queries.",
    f"""
{_LOCK}
UNWIND $rows AS row
MATCH (q:JobQuery {{id: row.query}})
WHERE q.accepted + q.rejected + q.pending = row.made AND coalesce(q.settled, 0) < row.made
WITH j, q, row {take_out(*MADE_OR_ENDED)}
SET q.settled = row.made
WITH j, q, row
CALL (q, row) {{
  UNWIND row.ranked AS ranked
  MATCH (c:Candidate {{id: ranked[0]}}) WHERE c.query = q.id
  SET c.rank = ranked[1],
    c.reason = CASE WHEN c.decided_at IS NULL AND c.verdict <> 'accepted'
      THEN ranked[2] ELSE c.reason END
}}{_CHOOSE_BEST}
WITH j, q, row{_COUNT_CANDIDATES}
FOREACH (_ IN CASE WHEN {_OPEN} THEN [1] ELSE [] END |
  SET q.state = 'done', q.ended_at = datetime(),
    q.message = CASE WHEN q.accepted < q.n THEN row.short ELSE row.message END
){put_in(*MADE_OR_ENDED)}""",
)

DECIDE = Statement(
    "Accept or reject a candidate by hand, and the best others; without a file none is accepted.",
    f"""
MATCH (c:Candidate {{id: $candidate}})
WHERE $verdict = 'rejected' OR c.uri IS NOT NULL
MATCH (q:JobQuery {{id: c.query}})
MATCH (j:Job {{id: c.job}})
SET j.updated_at = datetime()
WITH j, q, c {take_out(*MADE)}
SET c.verdict = $verdict, c.decided_by = $by, c.decided_at = datetime()
WITH j, q{_CHOOSE_BEST}
WITH j, q{_COUNT_CANDIDATES}
SET q.message = CASE WHEN q.settled IS NOT NULL AND q.accepted < q.n THEN $short
  WHEN q.message = $short THEN '' ELSE q.message END{put_in(*MADE)}
RETURN q.n AS n, q.accepted AS accepted, q.rejected AS rejected, q.pending AS pending""",
)

HEARTBEAT = Statement(
    "Record a worker's heartbeat; delete workers without one for a day.",
    """
MERGE (w:Worker {id: $worker})
ON CREATE SET w.started_at = datetime()
SET w.heartbeat_at = datetime(), w.host = $host, w.job = $job
WITH w
CALL () {
  MATCH (old:Worker) WHERE old.heartbeat_at < datetime() - duration('P1D')
  DELETE old
}
MATCH (j:Job {id: $job})
SET j.heartbeat_at = w.heartbeat_at""",
)

STOP_WORKER = Statement("Delete a worker.", "MATCH (w:Worker {id: $worker}) DELETE w")

CLAIM_COPY = Statement(
    "Create the dataset for a job's images unless it exists; return whether it is the job's.",
    """
OPTIONAL MATCH (other:Dataset {renaming_to: $into})
WITH count(other) AS renamed WHERE renamed = 0
MERGE (d:Dataset {name: $into})
ON CREATE SET d.created_at = datetime(), d.updated_at = datetime(), d.rebalanced_by = $job
RETURN coalesce(d.rebalanced_by = $job, false) AS own""",
)
