"""Named Cypher of audits and their answers."""

from cobalance.graph.database.panel_nodes import AUDIT, AUDIT_ANSWER
from cobalance.graph.database.query import Statement
from cobalance.graph.database.statements import merge_clause

CREATE_AUDIT = Statement(
    "Create an audit of a run, under the lock that drops and renames take.",
    f"""
MATCH (r:AnnotationRun {{id: $run}})
MATCH (d:Dataset {{name: r.dataset}}) SET d.updated_at = d.updated_at
WITH r, d WHERE d.renaming_to IS NULL AND d.digest IS NOT NULL
UNWIND [$row] AS row
{merge_clause(AUDIT, "a", "row")}, a.dataset = d.name, a.run = r.id, a.created_at = datetime()
MERGE (a)-[:AUDITS]->(r)
RETURN a.id AS id""",
)

SAVE_ANSWERS = Statement(
    "Write answers in place of the same people's earlier ones.",
    f"""
MATCH (s:Audit {{id: $audit}}) SET s.updated_at = s.updated_at
WITH s
UNWIND $rows AS row
{merge_clause(AUDIT_ANSWER, "a", "row")}, a.dataset = s.dataset
SET a.answer = row.properties.answer, a.answered_at = datetime()
MERGE (a)-[:GIVEN_IN]->(s)
WITH s, a
OPTIONAL MATCH (i:Image {{dataset: s.dataset, id: a.image}})
FOREACH (one IN CASE WHEN i IS NULL THEN [] ELSE [i] END | MERGE (a)-[:JUDGES]->(one))
RETURN count(a) AS written""",
)

_AUDIT = """
RETURN a {.id, .dataset, .run, .people, .concepts, .labels, .tasks, .counts, .settings,
  .created_by, created_at: a.created_at.epochMillis} AS audit
ORDER BY audit.created_at DESC, audit.id"""

AUDIT_OF_ID = Statement("One audit.", f"MATCH (a:Audit {{id: $audit}}){_AUDIT}")

AUDITS_OF_RUN = Statement("A run's audits, newest first.", f"MATCH (a:Audit {{run: $run}}){_AUDIT}")

AUDITS_OF_DATASET = Statement(
    "Audits of a dataset's runs, newest first.", f"MATCH (a:Audit {{dataset: $dataset}}){_AUDIT}"
)

ANSWERS = Statement(
    "All answers of an audit, or those of one person.",
    """
MATCH (a:AuditAnswer {audit: $audit}) WHERE $person IS NULL OR a.person = $person
RETURN a.image AS image, a.concept AS concept, a.person AS person, a.answer AS answer
ORDER BY person, concept, image""",
)
