"""Classes and images: sizes, images of a clique, images without concepts."""

from cobalance.graph.database import Parameter, schema
from cobalance.graph.queries.catalogue.parameters import (
    CONCEPTS,
    LIMIT,
    RAREST_FIRST,
    dataset_query,
)

QUERIES = (
    dataset_query(
        "graph-size",
        "The paper's |V| and |E|: classes and concepts, and the pairs of concepts, or of a class "
        "and a concept, that share an image.",
        "nodes edges classes concepts images",
        """
MATCH (s:Dataset {name: $dataset})
WITH s, COUNT { MATCH (:Class {dataset: $dataset}) } AS classes,
  COUNT { MATCH (:Concept {dataset: $dataset}) } AS concepts,
  COUNT { MATCH (:Concept {dataset: $dataset})-[:CO_OCCURS]->() }
    + COUNT { MATCH (:Class {dataset: $dataset})-[:CO_OCCURS]->() } AS edges
RETURN classes + concepts AS nodes, edges, classes, concepts, s.images AS images""",
    ),
    dataset_query(
        "classes",
        "The classes and how many images each has.",
        "class images",
        """
MATCH (y:Class {dataset: $dataset})
RETURN y.name AS class, coalesce(y.images, COUNT { (y)<-[:LABELED]-() }) AS images
ORDER BY images DESC, class""",
    ),
    dataset_query(
        "images-of-clique",
        "The images that contain all the given concepts, of a class or of any, in order of id.",
        "id uri split synthetic",
        RAREST_FIRST
        + """OPTIONAL MATCH (y:Class {dataset: $dataset, name: $class})
MATCH (rarest)<-[:CONTAINS]-(i)
WHERE all(c IN others WHERE EXISTS { (i)-[:CONTAINS]->(c) })
  AND ($class IS NULL OR EXISTS { (i)-[:LABELED]->(y) })
  AND NOT EXISTS { (i)-[:CONTAINS]->(:Concept {dataset: $dataset, name: $without}) }
RETURN i.id AS id, i.uri AS uri, i.split AS split, i.synthetic AS synthetic
ORDER BY id SKIP $skip LIMIT $limit""",
        parameters={
            "concepts": CONCEPTS,
            "without": Parameter("a concept that they do not show", names=schema.CONCEPT),
            "limit": LIMIT,
            "skip": Parameter("how many to pass over", int, 0),
            "class": Parameter("only of this class", names=schema.CLASS),
        },
    ),
    dataset_query(
        "images-without-concepts",
        "How many images of each class have no concept at all; they count in no clique.",
        "class images class_size",
        """
MATCH (y:Class {dataset: $dataset})
RETURN y.name AS class,
       CASE WHEN y.without_concepts IS NULL
         THEN COUNT { MATCH (y)<-[:LABELED]-(i:Image) WHERE NOT EXISTS { (i)-[:CONTAINS]->() } }
         ELSE y.without_concepts END AS images,
       coalesce(y.images, COUNT { (y)<-[:LABELED]-() }) AS class_size
ORDER BY images DESC, class""",
        scans_images=True,
    ),
)
