"""Cypher of the metrics: counts that stay cheap however large the datasets are."""

from cobalance.graph.database import Statement
from cobalance.graph.jobs import ALIVE

GAUGES = {
    "database_info": Statement(
        "The database's version.",
        "CALL dbms.components() YIELD versions, edition "
        "RETURN {version: versions[0], edition: edition} AS labels, 1 AS n",
    ),
    "datasets": Statement(
        "Datasets.", "MATCH (d:Dataset) WITH count(d) AS n RETURN {} AS labels, n"
    ),
    "images": Statement(
        "Annotated images of all datasets.",
        "MATCH (d:Dataset) WITH coalesce(sum(d.images), 0) AS n RETURN {} AS labels, n",
    ),
    "jobs": Statement(
        "Jobs by state.",
        "UNWIND ['preparing', 'queued', 'running', 'done', 'failed', 'cancelled'] AS state "
        "OPTIONAL MATCH (j:Job {state: state}) RETURN {state: state} AS labels, count(j) AS n",
    ),
    "job_queries": Statement(
        "Generation queries of all jobs by state.",
        "UNWIND ['queued', 'running', 'done', 'failed'] AS state OPTIONAL MATCH (j:Job) "
        "RETURN {state: state} AS labels, sum(j[state]) AS n",
    ),
    "generated_images": Statement(
        "Images that jobs have made, by verdict.",
        "UNWIND ['accepted', 'rejected', 'pending'] AS verdict OPTIONAL MATCH (j:Job) "
        "RETURN {verdict: verdict} AS labels, sum(j[verdict]) AS n",
    ),
    "tasks": Statement(
        "Evaluations, labels and other tasks by kind and state.",
        "MATCH (t:Task) RETURN {kind: t.kind, state: t.state} AS labels, count(t) AS n",
    ),
    "oldest_waiting_seconds": Statement(
        "How long the job or task waits that waits longest.",
        "MATCH (n:Job|Task {state: 'queued'}) "
        "WITH n, coalesce(n.updated_at, n.created_at) AS since "
        "RETURN {kind: toLower(labels(n)[0])} AS labels, "
        "max(datetime().epochMillis - since.epochMillis) / 1000.0 AS n",
    ),
    "workers": Statement(
        "Workers with a recent heartbeat, busy or idle.",
        "UNWIND ['busy', 'idle'] AS state OPTIONAL MATCH (w:Worker) "
        f"WHERE {ALIVE} AND (w.job IS NULL) = (state = 'idle') "
        "RETURN {state: state} AS labels, count(w) AS n",
    ),
}
"""Statements of gauges by their names; each returns its labels and its value."""
