"""Named Cypher writes of verdicts: candidates rejected, chosen by rank, and decided by people."""

from cobalance.graph.database import Statement
from cobalance.graph.jobs.counters import COUNT_CANDIDATES, MADE, MADE_OR_ENDED, put_in, take_out
from cobalance.graph.jobs.statements import LOCK, OPEN

# The accepted stay, the one that a person has just chosen before all, then those that people chose
# last; the rest of the seats go to the best, except those that people have rejected. Without a
# ranking, too, an edited image has no more of a group than are wanted: groups would be unequal.
_CHOOSE_BEST = """
CALL (q, j) {
  MATCH (c:Candidate {query: q.id})
  WHERE (q.settled IS NOT NULL OR q.source_image IS NOT NULL AND j.best_of = 1)
    AND c.verdict IS NOT NULL
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

_COUNT_AGAIN = f"""WITH DISTINCT j, c.query AS id
MATCH (q:JobQuery {{id: id}})
WITH j, q {take_out(*MADE)}
WITH j, q{COUNT_CANDIDATES}{put_in(*MADE)}"""

REJECT_CANDIDATES = Statement(
    "Reject accepted and pending candidates, except those decided by people.",
    f"""
{LOCK}
UNWIND $rows AS row
MATCH (c:Candidate {{id: row[0]}})
WHERE c.job = j.id AND c.verdict IN ['accepted', 'pending'] AND c.decided_at IS NULL
SET c.verdict = 'rejected', c.reason = row[1]
{_COUNT_AGAIN}""",
)

REJECT_SURPLUS = Statement(
    "Reject accepted candidates beyond the first ones that their queries want, but people's.",
    f"""
{LOCK}
UNWIND $queries AS query
MATCH (q:JobQuery {{id: query}})
MATCH (c:Candidate {{query: q.id, verdict: 'accepted'}}) WHERE c.decided_by IS NULL
WITH j, q, c ORDER BY size(c.id), c.id
WITH j, q, collect(c)[q.n..] AS surplus
WITH j, q, surplus WHERE size(surplus) > 0
WITH j, q, surplus {take_out(*MADE)}
SET q.surplus = coalesce(q.surplus, 0) + size(surplus)
FOREACH (c IN surplus | SET c.verdict = 'rejected', c.reason = $reason)
WITH j, q{COUNT_CANDIDATES}{put_in(*MADE)}""",
)

# Where enough are accepted; else people may want to know why the others were not. Last of all, as
# a node that is deleted must not be looked at again.
_DROP_LOSERS = """
WITH q WHERE NOT $keep_losers AND q.accepted >= q.n
MATCH (c:Candidate {query: q.id}) WHERE c.verdict <> 'accepted'
WITH q, collect(c) AS lost, coalesce(sum(c.seconds), 0.0) AS seconds
SET q.dropped = coalesce(q.dropped, 0) + size(lost),
  q.dropped_seconds = coalesce(q.dropped_seconds, 0.0) + seconds
FOREACH (c IN lost | DETACH DELETE c)"""

JUDGE_CANDIDATES = Statement(
    "Give candidates the scores of a check that looks at all of them, and reject some.",
    f"""
{LOCK}
UNWIND $rows AS row
MATCH (c:Candidate {{id: row[0]}}) WHERE c.job = j.id
SET c.scores = row[1]
WITH j, c, row WHERE row[2] <> '' AND c.verdict = 'pending' AND c.decided_at IS NULL
SET c.verdict = 'rejected', c.reason = row[2]
{_COUNT_AGAIN}""",
)

SETTLE_QUERIES = Statement(
    "Choose the best candidates of complete queries by their ranks, and end the queries.",
    f"""
{LOCK}
UNWIND $rows AS row
MATCH (q:JobQuery {{id: row.query}})
WHERE q.accepted + q.rejected + q.pending = row.made AND coalesce(q.settled, 0) < row.made
WITH j, q, row {take_out(*MADE_OR_ENDED)}
SET q.settled = row.made
WITH j, q, row
CALL (q, row) {{
  UNWIND row.ranked AS ranked
  MATCH (c:Candidate {{id: ranked.id}}) WHERE c.query = q.id
  SET c.rank = ranked.rank,
    c.reason = CASE WHEN c.decided_at IS NULL AND c.verdict <> 'accepted'
      THEN ranked.reason ELSE c.reason END
}}{_CHOOSE_BEST}
WITH j, q, row{COUNT_CANDIDATES}
FOREACH (_ IN CASE WHEN {OPEN} THEN [1] ELSE [] END |
  SET q.state = 'done', q.ended_at = datetime(),
    q.message = CASE WHEN q.accepted < q.n THEN row.short_message ELSE row.message END
){put_in(*MADE_OR_ENDED)}{_DROP_LOSERS}""",
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
WITH j, q{COUNT_CANDIDATES}
SET q.message = CASE WHEN q.settled IS NOT NULL AND q.accepted < q.n THEN $short
  WHEN q.message = $short THEN '' ELSE q.message END{put_in(*MADE)}
RETURN q.n AS n, q.accepted AS accepted, q.rejected AS rejected, q.pending AS pending""",
)

RESTORE = Statement(
    "Give a query's candidates the verdicts that they had, unless these have changed since.",
    f"""
MATCH (q:JobQuery {{id: $query}})
MATCH (j:Job {{id: q.job}})
SET j.updated_at = datetime()
WITH j, q
WHERE q.settled = $settled OR q.settled IS NULL AND $settled IS NULL
WITH j, q
WHERE all(row IN $after WHERE EXISTS {{
  MATCH (c:Candidate {{id: row[0]}}) WHERE c.query = q.id AND c.verdict = row[1]
    AND coalesce(c.decided_at.epochMillis, 0) = coalesce(row[2], 0)
}})
WITH j, q {take_out(*MADE)}
SET q.message = $message
WITH j, q
CALL (q) {{
  UNWIND $before AS row
  MATCH (c:Candidate {{id: row[0]}}) WHERE c.query = q.id
  SET c.verdict = row[1], c.decided_by = row[3], c.reason = row[4],
    c.decided_at = CASE WHEN row[2] IS NULL THEN null ELSE datetime({{epochMillis: row[2]}}) END
}}
WITH j, q{COUNT_CANDIDATES}{put_in(*MADE)}
RETURN q.id AS query""",
)
