"""Named Cypher of tasks."""

from cobalance.graph.database import TASK, Statement
from cobalance.graph.database.statements import merge_clause
from cobalance.graph.jobs import ALIVE, works_for

_LOCK = "MATCH (t:Task {id: $task}) SET t.updated_at = datetime() WITH t"
_OPEN = "t.state IN ['queued', 'running']"
_THIS = "t.state = 'running' AND t.attempt = $attempt"

CREATE_TASK = Statement(
    "Create a task unless it exists.",
    f"""
WITH $row AS row
{merge_clause(TASK, "t", "row")}, t.dataset = $dataset, t.created_at = datetime()
RETURN t.state AS state""",
)

START_TASK = Statement(
    "Mark a task as running, in this attempt.",
    f"""
{_LOCK} WHERE {_OPEN} AND t.attempt = $attempt
SET t.state = 'running', t.started_at = coalesce(t.started_at, datetime()),
  t.starts = coalesce(t.starts, 0) + 1, t.stage_at = null
RETURN t.kind AS kind, t.dataset AS dataset, t.settings AS settings, t.starts AS starts""",
)

RELEASE_TASK = Statement(
    "Leave a running task to another worker, as one that was not started.",
    f"""
{_LOCK} WHERE {_THIS}
SET t.state = 'queued', t.starts = t.starts - 1""",
)

REPORT_TASK = Statement(
    "Write the progress of a task that is still wanted, in this attempt.",
    f"""
{_LOCK} WHERE {_THIS}
SET t.stage_at = CASE WHEN t.stage = $stage THEN coalesce(t.stage_at, datetime())
    ELSE datetime() END,
  t.stage = $stage, t.done = $done, t.total = $total
RETURN t.id AS task""",
)

END_TASK = Statement(
    "Mark a running task as done, in this attempt.",
    f"""
{_LOCK} WHERE {_THIS}
SET t.state = 'done', t.note = $note, t.ended_at = datetime()""",
)

FAIL_TASK = Statement(
    "Mark a task as failed, in this attempt.",
    f"""
{_LOCK} WHERE {_OPEN} AND t.attempt = $attempt
SET t.state = 'failed', t.error = $error, t.ended_at = datetime()""",
)

CANCEL_TASK = Statement(
    "Cancel a task unless it has ended.",
    f"""
{_LOCK}
SET t.ended_at = CASE WHEN {_OPEN} THEN datetime() ELSE t.ended_at END,
  t.state = CASE WHEN {_OPEN} THEN 'cancelled' ELSE t.state END
RETURN t.state AS state""",
)

RETRY_TASK = Statement(
    "Queue a failed or cancelled task again.",
    f"""
{_LOCK}
WITH t, t.state IN ['failed', 'cancelled'] AS again
FOREACH (one IN CASE WHEN again THEN [t] ELSE [] END |
  SET one.state = 'queued', one.attempt = one.attempt + 1, one.starts = 0, one.error = null,
    one.ended_at = null, one.note = null)
RETURN again""",
)

ACTIVE_TASKS = Statement(
    "Tasks that are queued or running, the oldest first.",
    f"""
MATCH (t:Task) WHERE {_OPEN}
  AND NOT EXISTS {{ MATCH (d:Dataset {{name: t.dataset}}) WHERE d.restoring IS NOT NULL }}
RETURN t.id AS id, t.kind AS kind, t.extra AS extra, t.attempt AS attempt
ORDER BY t.created_at, t.id""",
)

_SUMMARY = f"""
CALL (t) {{
  MATCH (w:Worker) WHERE {ALIVE} AND {works_for("t.id", "t.extra")}
  RETURN count(w) AS workers,
    collect(DISTINCT CASE w.job WHEN t.id THEN coalesce(w.host, w.id) END) AS hosts
}}"""

_RETURN = f"""{_SUMMARY}
RETURN t {{{TASK.projection("t", ("starts",))}, workers: workers, hosts: hosts}} AS task
ORDER BY task.created_at DESC, task.id"""
_NEWEST = "WITH t ORDER BY t.created_at DESC, t.id LIMIT $limit"

READ_TASK = Statement("One task.", f"MATCH (t:Task {{id: $task}}){_RETURN}")

TASKS = Statement("The newest tasks.", f"MATCH (t:Task) {_NEWEST}{_RETURN}")

TASKS_OF_DATASET = Statement(
    "The newest tasks of a dataset.", f"MATCH (t:Task {{dataset: $dataset}}) {_NEWEST}{_RETURN}"
)
