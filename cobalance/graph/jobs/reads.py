"""Named Cypher reads of jobs."""

from cobalance.graph.database import CANDIDATE, JOB as JOB_NODE, Statement

ALIVE = "w.heartbeat_at > datetime() - duration({milliseconds: $alive_ms})"


def works_for(work: str, extra: str) -> str:
    """Cypher: whether a worker ``w`` is at a job or task, or at nothing and could take it.

    Parameters
    ----------
    work, extra : str
        Expressions: the id of the job or task, and what its workers need, if anything.
    """
    has = f"all(name IN split({extra}, ', ') WHERE name IN w.extras)"
    knows = f"w.extras IS NULL OR {extra} IS NULL OR {has}"
    could = f"w.job IS NULL AND (w.only IS NULL OR {work} IN w.only) AND ({knows})"
    return f"(w.job = {work} OR {could})"


_UNREAD = (
    "recipe",
    "backend",
    "updated_at",
    "dataset_digest",
    "complete",
    "attempt",
    "round",
    "round_spans",
)
_SUMMARY = f"""
CALL (j) {{
  MATCH (w:Worker) WHERE {ALIVE} AND {works_for("j.id", "j.extra")}
  RETURN count(w) AS workers
}}
OPTIONAL MATCH (d:Dataset {{name: j.dataset}})
WITH j, workers, coalesce(d.digest <> j.dataset_digest, false) AS dataset_changed
RETURN j {{{JOB_NODE.projection("j", _UNREAD)}}} AS job,
  workers, dataset_changed
ORDER BY job.created_at DESC, job.id"""
_NEWEST = "WITH j ORDER BY j.created_at DESC, j.id LIMIT $limit"

JOB = Statement("One job.", f"MATCH (j:Job {{id: $job}}){_SUMMARY}")

JOBS = Statement("The newest jobs.", f"MATCH (j:Job) {_NEWEST}{_SUMMARY}")

JOBS_OF_DATASET = Statement(
    "The newest jobs of a dataset.", f"MATCH (j:Job {{dataset: $dataset}}) {_NEWEST}{_SUMMARY}"
)

HAS_JOB = Statement("Whether a job exists.", "MATCH (j:Job {id: $job}) RETURN j.id AS job")

ACTIVE_JOBS = Statement(
    "Jobs that are queued or running, the oldest first.",
    """
MATCH (j:Job) WHERE j.state IN ['queued', 'running']
  AND NOT EXISTS { MATCH (d:Dataset {name: j.dataset}) WHERE d.restoring IS NOT NULL }
RETURN j.id AS job, j.extra AS extra ORDER BY j.created_at, j.id""",
)

SPEEDS = Statement(
    "Time per image and per candidate in the newest jobs that have measured it.",
    f"""
MATCH (j:Job) WHERE j.microseconds > 0 AND (j.accepted > 0 OR j.best_of > 1)
{_NEWEST}
WITH j, j.best_of AS best_of,
  j.microseconds / 1e6 / (j.accepted + j.rejected + j.pending) AS seconds
RETURN j.id AS job, j.dataset AS dataset, j.plan AS plan, j.settings AS settings,
  j.accepted AS images, best_of, seconds AS seconds_per_candidate,
  CASE best_of WHEN 1 THEN j.microseconds / 1e6 / j.accepted ELSE best_of * seconds END
    AS seconds_per_image
ORDER BY j.created_at DESC, j.id""",
)

_QUERY = """
RETURN q.id AS id, q.position AS position, q.class_name AS class_name, q.concepts AS concepts,
  q.n AS n, q.state AS state, q.accepted AS accepted, q.rejected AS rejected,
  q.pending AS pending, q.seconds AS seconds, q.message AS message,
  q.source_image AS source_image, j.best_of AS best_of, coalesce(q.more, 0) AS more,
  coalesce(q.retries, 0) AS retries, coalesce(q.surplus, 0) AS surplus"""

QUERIES_BY_ID = Statement(
    "Some queries of a job by their ids, in order: a page costs the same anywhere.",
    """
MATCH (j:Job {id: $job})
UNWIND $ids AS id MATCH (q:JobQuery {id: id}) WITH j, q ORDER BY q.position"""
    + _QUERY,
)

QUERIES = Statement(
    "Queries of a job in order, of one state or of all.",
    """
MATCH (j:Job {id: $job})
MATCH (q:JobQuery {job: j.id})
WHERE q.state IS NOT NULL AND ($state IS NULL OR q.state = $state)
WITH j, q ORDER BY q.position SKIP $skip LIMIT $limit"""
    + _QUERY,
)

QUERY_PROGRESS = Statement(
    "All queries of a job, for workers.",
    """
MATCH (q:JobQuery {job: $job}) WHERE q.state IS NOT NULL
RETURN q.position AS position, q.class_name AS class_name, q.concepts AS concepts, q.n AS n,
  q.state AS state, q.accepted AS accepted,
  q.accepted + q.rejected + q.pending AS made, coalesce(q.retries, 0) AS retries,
  coalesce(q.more, 0) AS more, coalesce(q.settled, 0) AS settled,
  coalesce(q.surplus, 0) AS surplus, q.sources AS sources,
  q.source_image AS source_image, q.caption AS caption, q.captions AS captions,
  q.own_group AS own_group
ORDER BY position""",
)

ROUND = Statement(
    "A job's current round.",
    """
MATCH (j:Job {id: $job}) WHERE j.round IS NOT NULL
RETURN j.round AS number, j.attempt AS attempt, j.round_spans AS spans""",
)


_NOT_SHOWN = ("dataset", "job", "provenance", "fingerprint", "rejected_by", "not_found")
_CANDIDATE = f"""c {{{CANDIDATE.projection("c", _NOT_SHOWN)},
    class_name: q.class_name, concepts: q.concepts}}"""


def _page(key: str) -> str:
    match = (
        f"MATCH (c:Candidate {{{key}}}) "
        "WHERE c.job = $job AND c.verdict IS NOT NULL "
        "AND ($verdict IS NULL OR c.verdict = $verdict "
        "OR c.decided_at.epochMillis >= $since)"
    )
    return f"""
RETURN COUNT {{ {match} }} AS total, COLLECT {{
  {match}
  WITH c ORDER BY c.created_at, c.id SKIP $skip LIMIT $limit
  MATCH (q:JobQuery {{id: c.query}})
  RETURN {_CANDIDATE}
  ORDER BY c.created_at, c.id
}} AS candidates"""


CANDIDATES_OF_JOB = Statement(
    "A page of a job's candidates in the order in which they came, and their number.",
    _page("job: $job"),
)

CANDIDATES_OF_QUERY = Statement("The same of one query.", _page("query: $query"))

COUNT_DECIDED = Statement(
    "How many of a job's candidates a person has decided on, of one query or of all.",
    """
MATCH (c:Candidate {job: $job})
WHERE c.verdict IS NOT NULL AND c.decided_by IS NOT NULL
  AND ($query IS NULL OR c.query = $query)
RETURN count(c) AS candidates""",
)

COUNT_EDITED = Statement(
    "How many images a job edits.",
    """
MATCH (q:JobQuery {job: $job}) WHERE q.state IS NOT NULL AND q.source_image IS NOT NULL
RETURN count(DISTINCT q.source_image) AS images""",
)

COUNT_REVIEWED = Statement(
    "How many images that a job edits have a person's decision in each group.",
    """
MATCH (c:Candidate) WHERE c.job = $job AND c.decided_at IS NOT NULL
WITH DISTINCT c.query AS id
MATCH (q:JobQuery {id: id}) WHERE q.source_image IS NOT NULL
WITH q.source_image AS source, count(q) AS decided, collect(q)[0] AS one
OPTIONAL MATCH (one)-[:EDITS]->(i:Image)
WITH decided, COUNT {
  MATCH (i)<-[:EDITS]-(o:JobQuery) WHERE o.job = $job
    AND o.accepted + o.rejected + o.pending > 0
} AS asked
WHERE decided >= asked
RETURN count(*) AS images""",
)

_FIRST_OF_EDITED = """
UNWIND $ids AS id
MATCH (q:JobQuery {id: id})
WHERE q.source_image IS NOT NULL AND NOT EXISTS {
  MATCH (q)-[:EDITS]->(:Image)<-[:EDITS]-(o:JobQuery)
  WHERE o.job = q.job AND o.position < q.position
}"""

FIRST_OF_EDITED = Statement(
    "Which of some queries are the first ones of the images that they edit, by position.",
    f"""{_FIRST_OF_EDITED}
RETURN q.position AS position ORDER BY position""",
)

UNREVIEWED_OF_EDITED = Statement(
    "The same of images of which some group has candidates, and none that a person decided on.",
    f"""{_FIRST_OF_EDITED} AND EXISTS {{
  MATCH (q)-[:EDITS]->(i:Image) MATCH (i)<-[:EDITS]-(o:JobQuery)  // q among them
  WHERE o.job = q.job AND o.accepted + o.rejected + o.pending > 0 AND NOT EXISTS {{
    MATCH (o)<-[:MADE_FOR]-(c:Candidate) WHERE c.decided_at IS NOT NULL
  }}
}}
RETURN q.position AS position ORDER BY position""",
)

EDITED_IMAGES = Statement(
    "Images that some queries edit, each with all queries of the job that do, and their best.",
    f"""
UNWIND $ids AS id
MATCH (f:JobQuery {{id: id}}) WHERE f.source_image IS NOT NULL
OPTIONAL MATCH (f)-[:EDITS]->(i:Image)
CALL (f, i) {{
  OPTIONAL MATCH (i)<-[:EDITS]-(o:JobQuery) WHERE o.job = f.job
  WITH f, collect(o) AS found
  RETURN CASE WHEN size(found) = 0 THEN [f] ELSE found END AS tied
}}
UNWIND tied AS q
WITH f, i, q ORDER BY f.position, q.position
RETURN f.position AS asked, f.source_image AS source_image, i.uri AS uri,
  f.concepts AS concepts, q.id AS query, q.position AS position, q.class_name AS class_name,
  q.message AS message, q.pending AS pending, q.accepted + q.rejected + q.pending AS made,
  coalesce(q.dropped, 0) AS dropped,
  COUNT {{
    MATCH (c:Candidate {{query: q.id}}) WHERE c.verdict IS NOT NULL AND c.rank IS NOT NULL
  }} AS ranked, COLLECT {{
    MATCH (c:Candidate {{query: q.id}}) WHERE c.verdict IS NOT NULL
    WITH c ORDER BY c.verdict <> 'accepted', c.rank IS NULL, c.rank, c.verdict <> 'pending', c.id
    LIMIT $most
    RETURN {_CANDIDATE}
  }} AS candidates""",
)

HAS_CANDIDATE = Statement(
    "Whether a candidate exists.", "MATCH (c:Candidate {id: $candidate}) RETURN c.id AS candidate"
)

DROPPED = Statement(
    "The job of a query whose rejected candidates are not kept.",
    "MATCH (q:JobQuery {id: $query}) WHERE q.dropped > 0 RETURN q.job AS job",
)

PROVENANCE = Statement(
    "Provenance of a candidate.",
    "MATCH (c:Candidate {id: $candidate}) RETURN c.provenance AS provenance",
)

VERDICTS = Statement(
    "The verdicts on some of a job's candidates, by their ids.",
    """
UNWIND $candidates AS id
MATCH (c:Candidate {id: id}) WHERE c.job = $job AND c.verdict IS NOT NULL
RETURN c.id AS id, c.verdict AS verdict, c.rank AS rank, c.reason AS reason,
  c.decided_by AS decided_by""",
)

DECISIONS = Statement(
    "The verdicts on a query's candidates, and what people should know of it.",
    """
MATCH (q:JobQuery {id: $query})
RETURN q.message AS message, q.settled AS settled, COLLECT {
  MATCH (c:Candidate {query: q.id}) WHERE c.verdict IS NOT NULL
  RETURN [c.id, c.verdict, c.decided_at.epochMillis, c.decided_by, c.reason] ORDER BY c.id
} AS rows""",
)

MADE = Statement(
    "All candidates of queries, query by query, and whether each may be chosen.",
    """
UNWIND $queries AS query
MATCH (c:Candidate {query: query}) WHERE c.verdict IS NOT NULL
RETURN query, c.id AS id, c.scores AS scores, c.reason AS reason,
  c.decided_by AS decided_by, c.verdict IN ['accepted', 'pending']
    OR c.rank IS NOT NULL AND c.decided_at IS NULL AS eligible
ORDER BY query, id""",
)

KEPT = Statement(
    "The candidates that are left of queries whose others were dropped.",
    """
MATCH (j:Job {id: $job})
UNWIND $queries AS query
MATCH (q:JobQuery {id: query}) WHERE q.job = j.id AND q.dropped > 0
WITH q, COLLECT {
    MATCH (c:Candidate {query: q.id}) WHERE c.verdict IS NOT NULL RETURN c.id
  } AS kept
WHERE size(kept) >= q.accepted
RETURN q.position AS position, q.settled AS settled, kept""",
)

NUMBERS = Statement(
    "The ids of the candidates of queries, query by query.",
    """
UNWIND $queries AS query
MATCH (q:JobQuery {id: query})
RETURN q.position AS position, coalesce(q.settled, 0) * sign(coalesce(q.dropped, 0)) AS dropped,
  COLLECT {
    MATCH (c:Candidate {query: q.id}) WHERE c.verdict IS NOT NULL RETURN c.id
  } AS ids""",
)

SHARED_REASONS = Statement(
    "Of queries whose candidates all lack a file for one reason, query by query, this reason.",
    """
UNWIND $queries AS query
MATCH (q:JobQuery {id: query})
MATCH (c:Candidate {query: q.id}) WHERE c.verdict IS NOT NULL
WITH q, count(c.uri) AS files, collect(DISTINCT c.reason) AS reasons
WHERE files = 0 AND size(reasons) = 1
RETURN q.position AS position, reasons[0] AS reason""",
)

REJECTIONS = Statement(
    "Of queries' rejected candidates, the filters that reject each, and what these did not find.",
    """
UNWIND $queries AS query
MATCH (c:Candidate {query: query}) WHERE c.verdict IS NOT NULL
WITH query, count(c) AS made, collect(CASE c.verdict WHEN 'rejected' THEN c END) AS rejected
RETURN query, made,
  [c IN rejected WHERE size(c.rejected_by) > 0 | c.rejected_by] AS filters,
  [c IN rejected WHERE size(c.rejected_by) > 0 | coalesce(c.not_found, [])] AS not_found,
  [c IN rejected WHERE coalesce(size(c.rejected_by), 0) = 0 | c.reason] AS reasons
ORDER BY query""",
)

FINGERPRINTS = Statement(
    "The perceptual hashes of accepted and pending candidates, query by query.",
    """
UNWIND $queries AS query
MATCH (c:Candidate {query: query})
WHERE c.verdict IN ['accepted', 'pending'] AND c.fingerprint IS NOT NULL
RETURN query, c.id AS candidate, c.fingerprint AS fingerprint ORDER BY query, candidate""",
)

WORKERS_ALIVE = Statement(
    "Workers whose last heartbeat is recent by the database's clock.",
    f"""
MATCH (w:Worker) WHERE {ALIVE}
RETURN w.id AS id, w.host AS host, w.job AS job,
  (datetime().epochMillis - w.heartbeat_at.epochMillis) / 1000.0 AS silent_s
ORDER BY id""",
)

ACCEPTED_IMAGES = Statement(
    "A job's accepted candidates that have files, with the requested class and concepts.",
    """
MATCH (c:Candidate {job: $job, verdict: 'accepted'}) WHERE c.uri IS NOT NULL
MATCH (q:JobQuery {id: c.query})
RETURN c.id AS id, c.uri AS uri, c.source_image AS source_image,
  c.provenance AS provenance, q.class_name AS class_name, q.concepts AS concepts,
  q.source_image IS NOT NULL AS edited, coalesce(q.captions, []) AS captions""",
)

COUNTERFACTUALS = Statement(
    "The images that a job edits, with the groups asked for and their accepted images.",
    """
MATCH (q:JobQuery {job: $job}) WHERE q.state IS NOT NULL AND q.source_image IS NOT NULL
RETURN q.source_image AS source, q.class_name AS group,
  [(q)<-[:MADE_FOR]-(c:Candidate)
    WHERE c.verdict = 'accepted' AND c.uri IS NOT NULL | c.id] AS images,
  q.accepted > 0 OR q.seconds > 0 AS tried, coalesce(q.own_group, '') AS own_group
ORDER BY q.position""",
)

GENERATED_IMAGES = Statement(
    "A dataset's generated images with their jobs and originals.",
    """
MATCH (i:Image {dataset: $dataset}) WHERE i.synthetic
RETURN i.id AS id, head([(i)-[:GENERATED_BY]->(j:Job) | j.id]) AS job,
  head([(i)-[:DERIVED_FROM]->(o:Image) | o.id]) AS source_image""",
)

SOURCES = Statement(
    "What a dataset's generated images were made from, whether or not it has that image.",
    """
MATCH (i:Image {dataset: $dataset}) WHERE i.synthetic
OPTIONAL MATCH (c:Candidate {id: substring(i.id, $prefix)})
RETURN i.id AS id,
  coalesce(head([(i)-[:DERIVED_FROM]->(o:Image) | o.id]), c.source_image) AS source""",
)

CHANGED_GROUPS = Statement(
    "A dataset's edited images, with the group that each was made from, where it is known.",
    """
MATCH (i:Image {dataset: $dataset})-[:LABELED]->(shown:Class) WHERE i.synthetic
MATCH (c:Candidate {id: substring(i.id, $prefix)})
MATCH (q:JobQuery {id: c.query}) WHERE q.source_image IS NOT NULL
OPTIONAL MATCH (j:Job {id: q.job})
OPTIONAL MATCH (:Image {dataset: j.dataset, id: q.source_image})-[:LABELED]->(own:Class)
RETURN i.id AS id, shown.name <> coalesce(q.own_group, own.name) AS changed""",
)
