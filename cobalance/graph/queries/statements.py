"""Named Cypher reads that are not in the catalogue."""

from cobalance.graph.database import Statement
from cobalance.graph.queries.catalogue.cliques import CLIQUE_RETURN, FILTER

# The database looks at every clique, where by evidence or gap it reads them off an index.
IMBALANCES_BY_ANYTHING = Statement(
    "The mined cliques at the top of a ranking by any column.",
    f"""
MATCH (q:Clique {{dataset: $dataset}})
WHERE all(name IN $concepts WHERE name IN q.concepts){FILTER}
WITH q, CASE WHEN $by = 'evidence' THEN CASE WHEN q.leans THEN q.effect ELSE q.effect - 1 END
  WHEN $by_class IS NULL THEN toFloat(q[$by])
  ELSE toFloat([(q)-[n:COUNTED_IN]->(:Class {{name: $by_class}}) | n.images][0]) END AS value
WITH q, CASE WHEN $descending THEN -value ELSE value END AS rank
ORDER BY rank, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN.replace("WITH q,", "WITH q, rank,")}
ORDER BY rank, size, concepts""",
)

IMBALANCES_OF = Statement(
    "The mined cliques of these concepts.",
    f"""
UNWIND $cliques AS names
MATCH (q:Clique {{dataset: $dataset, concepts: names}}){CLIQUE_RETURN}""",
)

CHANGED_SINCE = Statement(
    "The job that a dataset was rebalanced by, if the original has other images now.",
    """
MATCH (d:Dataset {name: $after}) MATCH (j:Job {id: d.rebalanced_by, dataset: $before})
MATCH (original:Dataset {name: $before}) WHERE original.digest <> d.made_from
RETURN j.id AS job""",
)

PLANNER_BETWEEN = Statement(
    "The planner of the plan by which a job made one dataset of another.",
    """
MATCH (d:Dataset {name: $after}) MATCH (j:Job {id: d.rebalanced_by, dataset: $before})
OPTIONAL MATCH (p:Plan {dataset: j.dataset, name: j.plan})
RETURN coalesce(p.planner, j.plan) AS planner""",
)

COPIES = Statement(
    "Datasets that jobs rebalanced, with their originals, the latest first.",
    """
MATCH (d:Dataset) WHERE d.rebalanced_by IS NOT NULL
MATCH (j:Job {id: d.rebalanced_by}) MATCH (original:Dataset {name: j.dataset})
RETURN d.name AS copy, original.name AS original ORDER BY d.updated_at DESC, copy""",
)

ASKED_AND_ACCEPTED = Statement(
    "The images that a job was asked for and that were accepted, by class and concepts: the job "
    "that made one dataset of another, or without the other the newest one that makes new images.",
    """
MATCH (j:Job {dataset: $before})
WHERE ($after IS NULL OR EXISTS { MATCH (:Dataset {name: $after, rebalanced_by: j.id}) })
  AND EXISTS { MATCH (q:JobQuery {job: j.id})
    WHERE q.state IS NOT NULL AND q.source_image IS NULL }
WITH j ORDER BY j.created_at DESC, j.id LIMIT 1
MATCH (q:JobQuery {job: j.id}) WHERE q.state IS NOT NULL AND q.source_image IS NULL
RETURN q.class_name AS class_name, q.concepts AS concepts, sum(q.n) AS asked,
  sum(q.accepted) AS accepted ORDER BY class_name, concepts""",
)

PROGRESS = Statement(
    "What there is of a dataset beyond its images and cliques.",
    """
OPTIONAL MATCH (d:Dataset {name: $dataset})
OPTIONAL MATCH (by:Job {id: d.rebalanced_by})
WITH d, by IS NOT NULL AS copy
RETURN
  copy OR EXISTS { MATCH (:Plan {dataset: $dataset}) }
    OR EXISTS { MATCH (:Job {dataset: $dataset}) } AS planned,
  copy OR EXISTS { MATCH (:Job {dataset: $dataset}) } AS ordered,
  EXISTS { MATCH (j:Job {dataset: $dataset}) WHERE j.state IN ['preparing', 'queued', 'running'] }
    AS making,
  copy OR EXISTS { MATCH (j:Job {dataset: $dataset}) WHERE j.accepted > 0 } AS made,
  coalesce(copy AND d.cliques_digest = d.digest, false) OR EXISTS {
    MATCH (j:Job {dataset: $dataset}) MATCH (c:Dataset {rebalanced_by: j.id})
    WHERE c.cliques_digest = c.digest } AS compared,
  EXISTS { MATCH (e:Evaluation {train: $dataset}) WHERE e.scored_at IS NOT NULL } OR EXISTS {
    MATCH (e:Evaluation {test: $dataset}) WHERE e.scored_at IS NOT NULL } AS evaluated""",
)

IMAGE_CONCEPTS = Statement(
    "The concepts of one image.",
    """
MATCH (:Image {dataset: $dataset, id: $image})-[:CONTAINS]->(c:Concept)
RETURN c.name AS concept ORDER BY concept""",
)

IMAGE_CONTENTS = Statement(
    "Images in the order of the ids given, with what they show.",
    """
UNWIND range(0, size($ids) - 1) AS at
MATCH (i:Image {dataset: $dataset, id: $ids[at]})-[:LABELED]->(y:Class)
RETURN i.id AS id, i.uri AS uri, y.name AS class,
  COLLECT { MATCH (i)-[:CONTAINS]->(c:Concept) RETURN c.name ORDER BY c.name } AS concepts
ORDER BY at""",
)

_SHOWING = """
MATCH (i:Image {dataset: $dataset})
WHERE ($class IS NULL OR EXISTS { (i)-[:LABELED]->(:Class {dataset: $dataset, name: $class}) })
  AND all(name IN $concepts
    WHERE EXISTS { (i)-[:CONTAINS]->(:Concept {dataset: $dataset, name: name}) })"""

IMAGES_SHOWING = Statement(
    "Ids of the images with all the concepts, of a class or of any, a page of them.",
    f"{_SHOWING}\nRETURN i.id AS id ORDER BY id SKIP $skip LIMIT $limit",
)

COUNT_SHOWING = Statement(
    "How many images show all the concepts, of a class or of any.",
    f"{_SHOWING}\nRETURN count(i) AS images",
)

IDS_BEGINNING = Statement(
    "Ids of jobs, tasks, annotation runs and evaluations that begin with a text.",
    """
MATCH (n:Job|Task|AnnotationRun|Evaluation)
WHERE n.id STARTS WITH $prefix AND any(label IN labels(n) WHERE label IN $labels)
RETURN n.id AS id, [label IN labels(n) WHERE label IN $labels][0] AS label
ORDER BY id LIMIT $limit""",
)

NAMES = Statement(
    "Names that people type, of the datasets that changed last.",
    """
MATCH (d:Dataset) WITH d ORDER BY d.updated_at DESC LIMIT 100
RETURN d.name AS datasets,
  COLLECT { MATCH (n:Concept {dataset: d.name}) RETURN n.name ORDER BY n.images DESC LIMIT 300 }
    AS concepts,
  COLLECT { MATCH (n:Class {dataset: d.name}) RETURN n.name LIMIT 100 } AS classes,
  COLLECT { MATCH (n:Plan {dataset: d.name}) RETURN n.name LIMIT 100 } AS plans,
  COLLECT { MATCH (n:Job {dataset: d.name}) RETURN n.id LIMIT 100 } AS jobs,
  COLLECT { MATCH (n:Task {dataset: d.name}) RETURN n.id LIMIT 100 } AS tasks,
  COLLECT { MATCH (n:AnnotationRun {dataset: d.name}) RETURN n.id LIMIT 100 } AS runs""",
)
