"""Incremental job counters: each write adds its changes to the counts on the job's node.

Watching a job reads its node alone, however many queries it has. A write takes the job's lock,
subtracts the old query from the counts, changes it, and adds the new one; all counts are whole
numbers, so nothing drifts. It names the counters that it may change, as each takes a while.
"""

_SHORT = "q.accepted < q.n"
_RUNS = "q.state IN ['queued', 'running']"

_OF_QUERY = {
    "queued": "CASE q.state WHEN 'queued' THEN 1 ELSE 0 END",
    "running": "CASE q.state WHEN 'running' THEN 1 ELSE 0 END",
    "done": "CASE q.state WHEN 'done' THEN 1 ELSE 0 END",
    "failed": "CASE q.state WHEN 'failed' THEN 1 ELSE 0 END",
    "short": f"CASE WHEN q.state = 'done' AND {_SHORT} THEN 1 ELSE 0 END",
    "wanted": "q.n",
    "covered": f"CASE WHEN {_SHORT} THEN q.accepted ELSE q.n END",
    "accepted": "q.accepted",
    "rejected": "q.rejected",
    "pending": "q.pending",
    "remaining": f"CASE WHEN {_RUNS} AND {_SHORT} THEN q.n - q.accepted ELSE 0 END",
    "unmade": f"""CASE WHEN {_RUNS} AND j.best_of > 1 AND
    q.n * j.best_of + coalesce(q.more, 0) > q.accepted + q.rejected + q.pending
    THEN q.n * j.best_of + coalesce(q.more, 0) - q.accepted - q.rejected - q.pending ELSE 0 END""",
    "microseconds": "toInteger(round(1000000 * q.seconds))",
}


def take_out(*names: str) -> str:
    """Cypher before a change to the query ``q`` of the job ``j``: subtract it from counters."""
    return _add("-", names)


def put_in(*names: str) -> str:
    """Cypher after the change: add the query to the counters again."""
    return _add("+", names)


def _add(sign: str, names: tuple[str, ...]) -> str:
    items = (f"j.{name} = j.{name} {sign} {_OF_QUERY[name]}" for name in names)
    return f"\nSET {', '.join(items)}\n"


STARTED = ("queued", "running")
"""Counters that change as an open query begins to run."""

ENDED = ("queued", "running", "done", "failed", "short", "remaining", "unmade")
"""Counters that change as an open query ends."""

MADE = (
    "short",
    "covered",
    "accepted",
    "rejected",
    "pending",
    "remaining",
    "unmade",
    "microseconds",
)
"""Counters that change with a query's candidates."""

MADE_OR_ENDED = (*ENDED, *(name for name in MADE if name not in ENDED))

_SUMS = {
    name: f"sum(CASE WHEN new THEN {value} ELSE 0 END) AS new_{name}"
    for name, value in _OF_QUERY.items()
}
PUT_IN_NEW = f"""
WITH j, count(*) AS written, {", ".join(_SUMS.values())}
SET {", ".join(f"j.{name} = j.{name} + new_{name}" for name in _OF_QUERY)}
"""
"""Add the rows ``q`` that are ``new``; ``j`` and the number of rows, ``written``, remain."""

RECOUNT = f"""
CALL (j) {{
  OPTIONAL MATCH (q:JobQuery {{job: j.id}}) WHERE q.state IS NOT NULL
  WITH j, {", ".join(f"sum({value}) AS all_{name}" for name, value in _OF_QUERY.items())}
  SET {", ".join(f"j.{name} = all_{name}" for name in _OF_QUERY)}
}}"""
"""Count all queries of the job ``j`` anew, after a change to many."""

COUNT_CANDIDATES = """
CALL (q) {
  OPTIONAL MATCH (c:Candidate {query: q.id}) WHERE c.verdict IS NOT NULL
  WITH q, sum(CASE c.verdict WHEN 'accepted' THEN 1 ELSE 0 END) AS accepted,
    sum(CASE c.verdict WHEN 'pending' THEN 1 ELSE 0 END) AS pending,
    count(c) AS kept, coalesce(sum(c.seconds), 0.0) AS seconds
  SET q.accepted = accepted, q.pending = pending,
    q.rejected = kept + coalesce(q.dropped, 0) - accepted - pending,
    q.seconds = seconds + coalesce(q.dropped_seconds, 0.0)
}"""
"""Count the candidates of the query ``q`` anew, in every write that adds or decides one."""
