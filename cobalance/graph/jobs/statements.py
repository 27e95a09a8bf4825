"""Named Cypher writes of jobs: state transitions under the job's lock, and new nodes."""

from cobalance.graph.database import CANDIDATE, JOB, JOB_QUERY, Statement
from cobalance.graph.database.statements import merge_clause
from cobalance.graph.jobs.counters import (
    COUNT_CANDIDATES,
    ENDED,
    MADE_OR_ENDED,
    PUT_IN_NEW,
    RECOUNT,
    STARTED,
    put_in,
    take_out,
)

LOCK = "MATCH (j:Job {id: $job}) SET j.updated_at = datetime() WITH j"
"""Begin a write to a job, one at a time."""

OPEN = "q.state IN ['queued', 'running']"
"""Of a query ``q``."""

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
{LOCK} WHERE j.state = 'preparing'
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
    f"{LOCK} WHERE j.state = 'preparing' SET j.state = 'queued', j.complete = true",
)

DISCARD_QUERIES = Statement(
    "Delete the queries of a job.",
    """
MATCH (q:JobQuery {job: $job}) WHERE q.state IS NOT NULL
CALL (q) { DETACH DELETE q } IN TRANSACTIONS OF 1000 ROWS""",
)

DISCARD_JOB = Statement("Delete a job.", "MATCH (j:Job {id: $job}) DETACH DELETE j")

CANCEL_JOB = Statement(
    "Cancel a job unless it has ended; its running queries are queued.",
    f"""
{LOCK}
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
{LOCK} WHERE j.state = 'preparing' OR j.complete
CALL (j) {{
  MATCH (q:JobQuery {{job: j.id}})
  WHERE q.state IN ['failed', 'done'] AND j.state <> 'preparing'
    AND (q.state = 'failed' OR $short AND q.accepted < q.n)
  WITH j, q, q.state = 'failed' AS failed
  SET q.more = CASE WHEN j.best_of > 1 AND q.state = 'done'
      THEN coalesce(q.more, 0) + (q.n - q.accepted) * j.best_of ELSE q.more END,
    q.state = 'queued', q.message = '', q.ended_at = null,
    q.retries = coalesce(q.retries, 0) + 1
  RETURN count(q) AS queued, count(CASE WHEN failed THEN 1 END) AS failed
}}
// While a job runs, chunks of failed queries have ended, and are to be queued anew.
SET j.attempt = j.attempt
  + CASE WHEN j.state IN ['queued', 'running'] AND failed > 0 THEN 1 ELSE 0 END
WITH j, queued
CALL (j, queued) {{
  WITH j, queued
  WHERE queued > 0 AND j.state = 'done' OR j.state = 'failed' OR j.state = 'cancelled'
    AND EXISTS {{ MATCH (:JobQuery {{job: j.id, state: 'queued'}}) }}
  SET j.state = 'queued', j.ended_at = null, j.error = null, j.note = null,
    j.attempt = j.attempt + 1
}}{RECOUNT}
RETURN queued""",
)

DROP_SHORT = Statement(
    "Have the queries of a job that are done with too few images want no more than they have.",
    f"""
{LOCK}
CALL (j) {{
  MATCH (q:JobQuery {{job: j.id, state: 'done'}}) WHERE q.accepted < q.n
  SET q.message = $words[0] + q.accepted + $words[1] + q.n + $words[2], q.n = q.accepted
  RETURN count(q) AS dropped
}}{RECOUNT}
RETURN dropped""",
)

START_QUERIES = Statement(
    "Mark queries as running, in this attempt of the job.",
    f"""
{LOCK} WHERE j.state IN ['queued', 'running'] AND j.attempt = $attempt
CALL (j) {{
  UNWIND $queries AS id
  MATCH (q:JobQuery {{id: id}}) WHERE {OPEN}
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
{LOCK} WHERE $after IS NULL OR j.round = $after
UNWIND $rows AS row
MATCH (q:JobQuery {{id: row[0]}}) WHERE {OPEN}
WITH j, q, row {take_out(*ENDED)}
SET q.state = 'done', q.message = row[1], q.ended_at = datetime() {put_in(*ENDED)}""",
)

FAIL_QUERIES = Statement(
    "Mark queries as failed, in this attempt of the job.",
    f"""
{LOCK} WHERE j.attempt = $attempt
UNWIND $queries AS id
MATCH (q:JobQuery {{id: id}}) WHERE {OPEN}
WITH j, q {take_out(*ENDED)}
SET q.state = 'failed', q.message = $message, q.ended_at = datetime() {put_in(*ENDED)}""",
)

END_JOB = Statement(
    "End a job that has no query left to run; it is done unless one failed.",
    f"""
{LOCK} WHERE j.state IN ['queued', 'running'] AND NOT EXISTS {{
  MATCH (q:JobQuery {{job: j.id}}) WHERE {OPEN}
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
{LOCK}
CALL (j) {{
  WITH j WHERE j.state IN ['queued', 'running']
  SET j.state = 'failed', j.error = $error, j.ended_at = datetime()
  WITH j
  MATCH (q:JobQuery {{job: j.id}}) WHERE {OPEN}
  SET q.state = 'failed', q.message = $error, q.ended_at = datetime()
}}{RECOUNT}
RETURN j.id AS job""",
)

BEGIN_ROUND = Statement(
    "Begin a job's next round, unless another worker has.",
    f"""
{LOCK} WHERE coalesce(j.round, -1) = $number - 1
WITH j, j.best_of <> $best_of AS is_new
SET j.round = $number, j.round_spans = $spans, j.best_of = $best_of,
  j.expected = $expected[0], j.expected_low = $expected[1], j.expected_high = $expected[2]
WITH j WHERE is_new{RECOUNT}""",
)

RESERVE_IMAGE = Statement(
    "Count an image that a server is to be asked for, unless a job's budget is spent.",
    f"""
{LOCK}, coalesce(j.requested, 0) AS before
SET j.requested = before + CASE WHEN $most IS NULL OR before < $most THEN 1 ELSE 0 END
RETURN j.requested > before AS reserved""",
)

RELEASE_IMAGE = Statement(
    "Take back the count of an image that a server has refused to make.",
    f"{LOCK} SET j.requested = j.requested - 1",
)

ADD_CANDIDATES = Statement(
    "Add candidates to queries of a job, and end those that are complete by them if asked.",
    f"""
{LOCK}
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
WITH j, q, row{COUNT_CANDIDATES}
FOREACH (_ IN CASE
    WHEN $finish AND {OPEN} AND j.best_of = 1
      AND q.accepted >= q.n AND q.accepted + q.rejected = row[1]
    THEN [1] ELSE [] END |
  SET q.state = 'done', q.message = '', q.ended_at = datetime()
){put_in(*MADE_OR_ENDED)}
RETURN q.id AS query, q.n AS n, q.accepted AS accepted, q.rejected AS rejected,
  q.pending AS pending""",
)

HEARTBEAT = Statement(
    "Record a worker's heartbeat; delete workers without one for a day.",
    """
MERGE (w:Worker {id: $worker})
ON CREATE SET w.started_at = datetime()
SET w.heartbeat_at = datetime(), w.host = $host, w.job = $job, w.extras = $extras,
  w.only = $only
WITH w
CALL () {
  MATCH (old:Worker) WHERE old.heartbeat_at < datetime() - duration('P1D')
  DELETE old
}""",
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
