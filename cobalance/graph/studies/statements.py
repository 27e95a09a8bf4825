"""Named Cypher of human studies and their answers."""

from cobalance.graph.database.panel_nodes import STUDY, STUDY_ANSWER
from cobalance.graph.database.query import Statement
from cobalance.graph.database.statements import merge_clause

PAIRS = Statement(
    "A job's accepted edits whose files are kept, with what was asked for.",
    """
MATCH (c:Candidate {job: $job, verdict: 'accepted'})
WHERE c.uri IS NOT NULL AND c.source_uri IS NOT NULL
MATCH (q:JobQuery {id: c.query}) WHERE q.source_image IS NOT NULL
RETURN c.id AS candidate, c.uri AS uri, q.source_image AS original, c.source_uri AS original_uri,
  q.class_name AS asked, coalesce(q.own_group, '') AS own, coalesce(q.caption, '') AS caption
ORDER BY candidate""",
)

CREATE_STUDY = Statement(
    "Create a study of a job, under the lock that drops and renames take.",
    f"""
MATCH (j:Job {{id: $job}})
MATCH (d:Dataset {{name: j.dataset}}) SET d.updated_at = d.updated_at
WITH j, d WHERE d.renaming_to IS NULL AND d.digest IS NOT NULL
UNWIND [$row] AS row
{merge_clause(STUDY, "s", "row")}, s.dataset = d.name, s.job = j.id, s.created_at = datetime()
MERGE (s)-[:STUDIES]->(j)
RETURN s.id AS id""",
)

SAVE_ANSWER = Statement(
    "Write an answer in place of the person's earlier one, unless the study is closed.",
    f"""
MATCH (s:Study {{id: $study}}) SET s.updated_at = s.updated_at
WITH s WHERE s.closed_at IS NULL
MATCH (c:Candidate {{id: $candidate}})
UNWIND [$row] AS row
{merge_clause(STUDY_ANSWER, "a", "row")}, a.dataset = s.dataset
SET a.answer = row.properties.answer, a.answered_at = datetime()
MERGE (a)-[:GIVEN_IN]->(s)
MERGE (a)-[:JUDGES]->(c)
RETURN count(a) AS written""",
)

CLOSE_STUDY = Statement(
    "Take no more answers of a study.",
    """
MATCH (s:Study {id: $study}) SET s.closed_at = coalesce(s.closed_at, datetime())
RETURN s.id AS id""",
)

_STUDY = """
RETURN s {.id, .dataset, .job, .groups, .people, .pairs, .tasks, .settings, .created_by,
  created_at: s.created_at.epochMillis, closed_at: s.closed_at.epochMillis} AS study
ORDER BY study.created_at DESC, study.id"""

STUDY_OF_ID = Statement("One study.", f"MATCH (s:Study {{id: $study}}){_STUDY}")

STUDIES_OF_JOB = Statement(
    "A job's studies, newest first.", f"MATCH (s:Study {{job: $job}}){_STUDY}"
)

STUDIES_OF_DATASET = Statement(
    "Studies of a dataset's jobs, newest first.", f"MATCH (s:Study {{dataset: $dataset}}){_STUDY}"
)

ANSWERS = Statement(
    "All answers of a study, or those of one person.",
    """
MATCH (a:StudyAnswer {study: $study}) WHERE $person IS NULL OR a.person = $person
RETURN a.candidate AS pair, a.person AS person, a.question AS question, a.answer AS answer
ORDER BY person, pair, question""",
)
