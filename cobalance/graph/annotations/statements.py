"""Named Cypher of annotation runs and attributes."""

from cobalance.graph.database import ANNOTATION_RUN, TASK, Statement
from cobalance.graph.database.statements import merge_clause

CREATE_RUN = Statement(
    "Create an annotation run with its tasks, under the lock that drops and renames take.",
    f"""
MATCH (d:Dataset {{name: $dataset}}) SET d.updated_at = d.updated_at
WITH d WHERE d.renaming_to IS NULL AND d.digest IS NOT NULL
WITH d, $row AS row
{merge_clause(ANNOTATION_RUN, "r", "row")}, r.dataset = d.name, r.images_digest = d.digest,
  r.created_at = datetime()
WITH r, d
CALL (r, d) {{
  UNWIND $tasks AS task
  {merge_clause(TASK, "t", "task")}, t.dataset = d.name, t.created_at = datetime()
  MERGE (t)-[:WORKS_FOR]->(r)
}}
RETURN r.id AS id""",
)

SET_RUN = Statement(
    "Set properties of a run that is in one of some states.",
    """
MATCH (r:AnnotationRun {id: $run}) WHERE r.state IN $states
SET r += $values,
  r.ended_at = CASE WHEN $ends THEN datetime() ELSE r.ended_at END,
  r.decided_at = CASE WHEN $decides THEN datetime() ELSE r.decided_at END
RETURN r.id AS id""",
)

_RETURN_RUN = f"""
OPTIONAL MATCH (d:Dataset {{name: r.dataset}})
CALL (r) {{
  OPTIONAL MATCH (r)<-[:WORKS_FOR]-(t:Task)
  RETURN count(t) AS tasks, count(CASE WHEN t.state = 'done' THEN 1 END) AS ended,
    count(CASE WHEN t.state = 'running' THEN 1 END) AS running,
    collect(DISTINCT CASE WHEN t.state = 'failed' THEN t.error END)[..3] AS failures,
    count(CASE WHEN t.state = 'failed' THEN 1 END) AS failed, min(t.started_at) AS started_at
}}
RETURN r {{{ANNOTATION_RUN.projection("r")}}} AS run,
  coalesce(d.digest <> r.images_digest, true) AS outdated, tasks, ended, running, failed, failures,
  started_at.epochMillis AS started_at
ORDER BY run.created_at DESC, run.id"""

RUN = Statement("One annotation run.", f"MATCH (r:AnnotationRun {{id: $run}}){_RETURN_RUN}")

RUNS = Statement(
    "The newest annotation runs.",
    f"""
MATCH (r:AnnotationRun) WHERE $dataset IS NULL OR r.dataset = $dataset
WITH r ORDER BY r.created_at DESC, r.id LIMIT $limit
{_RETURN_RUN}""",
)

RUN_TASKS = Statement(
    "Ids of a run's tasks.",
    "MATCH (r:AnnotationRun {id: $run})<-[:WORKS_FOR]-(t:Task) RETURN t.id AS id ORDER BY id",
)

DELETE_RUN = Statement(
    "Delete a run with its tasks and audits; attributes that it proposed stay.",
    """
MATCH (r:AnnotationRun {id: $run})
CALL (r) { OPTIONAL MATCH (r)<-[:WORKS_FOR]-(t:Task) RETURN collect(t) AS tasks }
CALL (r) { OPTIONAL MATCH (r)<-[:AUDITS]-(a:Audit) RETURN collect(a) AS audits }
CALL (r) {
  OPTIONAL MATCH (r)<-[:AUDITS]-(:Audit)<-[:GIVEN_IN]-(n:AuditAnswer)
  RETURN collect(n) AS answers
}
FOREACH (node IN tasks + audits + answers | DETACH DELETE node)
DETACH DELETE r""",
)

# What people decided stays when an attribute is proposed once more.
SAVE_ATTRIBUTES = Statement(
    "Write the attributes that a run proposes.",
    """
MATCH (r:AnnotationRun {id: $run})
UNWIND $rows AS row
MERGE (a:Attribute {dataset: r.dataset, key: row.key})
ON CREATE SET a += row.properties
SET a.votes = row.properties.votes, a.rounds = row.properties.rounds,
  a.flags = row.properties.flags
WITH r, a
OPTIONAL MATCH (a)-[old:PROPOSED_BY]->()
DELETE old
MERGE (a)-[:PROPOSED_BY]->(r)
RETURN count(DISTINCT a) AS written""",
)

ATTRIBUTES = Statement(
    "A dataset's attributes.",
    """
MATCH (a:Attribute {dataset: $dataset})
OPTIONAL MATCH (a)-[:MERGED_INTO]->(b:Attribute)
OPTIONAL MATCH (a)-[:PROPOSED_BY]->(r:AnnotationRun)
OPTIONAL MATCH (a)-[:BECOMES]->(c:Concept)
RETURN a.category AS category, a.key[1] AS proposed, a.name AS name, a.level AS level,
  a.caption AS caption, a.votes AS votes, a.rounds AS rounds, a.flags AS flags, a.state AS state,
  a.decided_by AS decided_by, b.key AS merged_into, r.id AS run, c.name AS concept
ORDER BY r.created_at, a.position, a.key""",
)

DECIDE_ATTRIBUTES = Statement(
    "Write what people decided of attributes; a row without a decision changes nothing.",
    """
UNWIND $rows AS row
MATCH (a:Attribute {dataset: $dataset, key: row.key})
SET a += row.values, a.decided_by = $decided_by, a.decided_at = datetime()
WITH a, row
OPTIONAL MATCH (a)-[old:MERGED_INTO]->()
DELETE old
WITH a, row
OPTIONAL MATCH (b:Attribute {dataset: $dataset, key: row.into})
FOREACH (one IN CASE WHEN b IS NULL THEN [] ELSE [b] END | MERGE (a)-[:MERGED_INTO]->(one))
RETURN count(DISTINCT a) AS written""",
)

WRITE_FLAGS = Statement(
    "Write why people should look at attributes.",
    """
UNWIND $rows AS row
MATCH (a:Attribute {dataset: $dataset, key: row.key})
SET a.flags = row.flags""",
)

LINK_CONCEPTS = Statement(
    "Lead attributes to the concepts that they become, and no longer to others.",
    """
MATCH (a:Attribute {dataset: $dataset})
OPTIONAL MATCH (a)-[old:BECOMES]->()
DELETE old
WITH DISTINCT a WHERE a.state = 'accepted'
UNWIND [row IN $rows WHERE row.key = a.key] AS row
MATCH (c:Concept {dataset: $dataset, name: row.concept})
MERGE (a)-[:BECOMES]->(c)""",
)

SEEN_BY_RUNS = Statement(
    "Record that some runs are of the images that a dataset has now.",
    """
MATCH (d:Dataset {name: $dataset})
MATCH (r:AnnotationRun) WHERE r.id IN $runs
SET r.images_digest = d.digest""",
)

DELETE_FOUND = Statement(
    "Delete what a run found.",
    """
MATCH (:Image {dataset: $dataset})-[f:FOUND {run: $run}]->()
CALL (f) { DELETE f } IN TRANSACTIONS OF 5000 ROWS""",
)

STILL_LABELLED = Statement(
    "Whether images have labels of a source.",
    """
MATCH (:Image {dataset: $dataset})-[e:CONTAINS]->() WHERE e.source = $source
RETURN true AS found LIMIT 1""",
)

SAVE_FOUND = Statement(
    "Write what a run found in images.",
    """
UNWIND $rows AS row
MATCH (i:Image {dataset: $dataset, id: row[0]})
MATCH (c:Concept {dataset: $dataset, name: row[1]})
MERGE (i)-[f:FOUND {run: $run}]->(c)
SET f.score = row[2]
RETURN count(f) AS written""",
)
