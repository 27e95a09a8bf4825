"""Named Cypher of evaluations and their scores."""

from cobalance.graph.database import EVALUATION, SCORE, TASK, Statement
from cobalance.graph.database.statements import merge_clause

CREATE_EVALUATIONS = Statement(
    "Create evaluations and their tasks, under the locks that drops and renames take.",
    f"""
MATCH (x:Dataset {{name: $test}}) SET x.updated_at = x.updated_at
WITH x WHERE x.renaming_to IS NULL AND x.digest IS NOT NULL
OPTIONAL MATCH (d:Dataset {{name: $train}})
FOREACH (one IN CASE WHEN d IS NULL THEN [] ELSE [d] END | SET one.updated_at = one.updated_at)
WITH x, d WHERE $train IS NULL OR d.renaming_to IS NULL AND d.digest IS NOT NULL
OPTIONAL MATCH (j:Job {{id: d.rebalanced_by}})
UNWIND $rows AS row
{merge_clause(EVALUATION, "e", "row")}, e.dataset = coalesce(d.name, x.name), e.train = d.name,
  e.train_digest = d.digest, e.test = x.name, e.test_digest = x.digest,
  e.job = d.rebalanced_by, e.created_at = datetime()
MERGE (e)-[:TESTED_ON]->(x)
FOREACH (end IN CASE WHEN d IS NULL THEN [] ELSE [d] END | MERGE (e)-[:TRAINED_ON]->(end))
FOREACH (end IN CASE WHEN j IS NULL THEN [] ELSE [j] END | MERGE (e)-[:OF]->(end))
FOREACH (task IN CASE WHEN row.task IS NULL THEN [] ELSE [row.task] END |
  {merge_clause(TASK, "t", "task")}, t.dataset = coalesce(d.name, x.name),
    t.created_at = datetime()
  MERGE (t)-[:EVALUATES]->(e))
RETURN count(e) AS written""",
)

BEGIN_EVALUATION = Statement(
    "Record which images an evaluation is trained and tested on: those of now.",
    """
MATCH (e:Evaluation {id: $evaluation}) SET e.scored_at = null
WITH e
MATCH (e)-[:TESTED_ON]->(x:Dataset) WHERE x.digest IS NOT NULL
OPTIONAL MATCH (e)-[:TRAINED_ON]->(d:Dataset)
WITH e, x, d WHERE e.train IS NULL OR d.digest IS NOT NULL
SET e.train_digest = d.digest, e.test_digest = x.digest
RETURN e.id AS id""",
)

SAVE_PREDICTIONS = Statement(
    "Record where an evaluation's predictions are.",
    "MATCH (e:Evaluation {id: $evaluation}) SET e.predictions_uri = $uri RETURN e.id AS id",
)

SAVE_SCORES = Statement(
    "Write scores of an evaluation in place of earlier ones of the same metrics.",
    f"""
MATCH (e:Evaluation {{id: $evaluation}}) SET e.scored_at = datetime()
WITH e
CALL (e) {{
  MATCH (s:Score {{evaluation: e.id}}) WHERE s.metric IN $metrics
  DETACH DELETE s
}}
UNWIND $rows AS row
{merge_clause(SCORE, "s", "row")}, s.dataset = e.dataset, s.evaluation = e.id
MERGE (e)-[:SCORED]->(s)
RETURN count(s) AS written""",
)

DELETE_SCORES = Statement(
    "Delete all scores of an evaluation.",
    "MATCH (s:Score {evaluation: $evaluation}) DETACH DELETE s",
)

DELETE_EVALUATION = Statement(
    "Delete an evaluation with its scores and its task, unless a worker runs it.",
    """
MATCH (e:Evaluation {id: $evaluation})
OPTIONAL MATCH (t:Task {id: e.id})
SET t.updated_at = datetime()
WITH e, t WHERE t IS NULL OR t.state <> 'running'
CALL (e) {
  MATCH (s:Score {evaluation: e.id})
  DETACH DELETE s
}
DETACH DELETE e, t
RETURN true AS deleted""",
)

_SUMMARY = f"""
OPTIONAL MATCH (t:Task {{id: e.id}})
OPTIONAL MATCH (d:Dataset {{name: e.train}})
OPTIONAL MATCH (x:Dataset {{name: e.test}})
WITH e, t, NOT (coalesce(x.digest = e.test_digest, false)
  AND coalesce(d.digest = e.train_digest, e.train IS NULL)) AS outdated
RETURN e {{{EVALUATION.projection("e", ("dataset", "same_method", "other_methods"))}}}
  AS evaluation,
  coalesce(t.state, 'done') AS state,
  coalesce(t.error, '') AS error, t.stage AS stage, t.done AS done, t.total AS total, outdated
ORDER BY evaluation.created_at DESC, evaluation.id"""
_NEWEST = "WITH e ORDER BY e.created_at DESC, e.id LIMIT $limit"

EVALUATION_OF_ID = Statement(
    "One evaluation.", f"MATCH (e:Evaluation {{id: $evaluation}}){_SUMMARY}"
)

EVALUATIONS = Statement("The newest evaluations.", f"MATCH (e:Evaluation) {_NEWEST}{_SUMMARY}")

EVALUATIONS_OF_DATASET = Statement(
    "The newest evaluations of models that were trained or tested on a dataset, or on what a job "
    "made of it.",
    f"""
CALL () {{
  MATCH (e:Evaluation {{train: $dataset}}) RETURN e
  UNION MATCH (e:Evaluation {{test: $dataset}}) RETURN e
  UNION MATCH (j:Job {{dataset: $dataset}})<-[:OF]-(e:Evaluation) RETURN e
}}
{_NEWEST}{_SUMMARY}""",
)

ORIGIN = Statement(
    "The dataset of the job whose images a dataset has.",
    """
MATCH (d:Dataset {name: $dataset})
MATCH (j:Job {id: d.rebalanced_by})
RETURN j.dataset AS dataset""",
)

COUNT_SYNTHETIC = Statement(
    "How many synthetic images a dataset has.",
    """
MATCH (i:Image {dataset: $dataset}) WHERE i.id IS NOT NULL AND i.synthetic
RETURN count(i) AS images""",
)

SCORES = Statement(
    "Scores of evaluations.",
    """
UNWIND range(0, size($evaluations) - 1) AS at
MATCH (s:Score {evaluation: $evaluations[at]})
RETURN s.evaluation AS evaluation, s.metric AS metric, s.group AS group, s.value AS value,
  s.low AS low, s.high AS high, s.n AS n
ORDER BY at, s.position, metric, group""",
)
