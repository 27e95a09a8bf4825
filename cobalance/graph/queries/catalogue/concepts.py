"""Concepts with their images, over all classes and in each."""

from cobalance.graph.database import schema
from cobalance.graph.database.query import Parameter
from cobalance.graph.queries.catalogue.parameters import (
    CONCEPT,
    CONCEPTS,
    COUNTS_OF_CONCEPT,
    LIMIT,
    dataset_query,
)

_CLASSES = Parameter("only what these classes never show", list, None, schema.CLASS)

QUERIES = (
    dataset_query(
        "concepts",
        "The concepts and how many images contain each, the most frequent first.",
        "concept images",
        """
MATCH (c:Concept {dataset: $dataset})
RETURN c.name AS concept, coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS images
ORDER BY images DESC, concept LIMIT $limit""",
        parameters={"limit": Parameter("the most rows to return", int, 1000)},
    ),
    dataset_query(
        "concepts-by-class",
        "Every concept with its images in each class: the class-concept edges, zeros included.",
        "concept images class count",
        """
MATCH (c:Concept {dataset: $dataset})
MATCH (y:Class {dataset: $dataset})
OPTIONAL MATCH (y)-[e:CO_OCCURS]->(c)
RETURN c.name AS concept, coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS images,
       y.name AS class,
       coalesce(e.images, 0) AS count
ORDER BY images DESC, concept, class""",
    ),
    dataset_query(
        "class-concept-edges",
        "The images of each class with each concept that it shows, from the edges between them.",
        "concept class images",
        """
MATCH (y:Class {dataset: $dataset})-[e:CO_OCCURS]->(c:Concept)
RETURN c.name AS concept, y.name AS class, e.images AS images
ORDER BY concept, class""",
    ),
    dataset_query(
        "concept-counts",
        "The given concepts with their images in each class that shows them, the most frequent "
        "first.",
        "concept images counts",
        f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
RETURN c.name AS concept, coalesce(c.images, COUNT {{ (c)<-[:CONTAINS]-() }}) AS images,
       {COUNTS_OF_CONCEPT} AS counts
ORDER BY images DESC, concept""",
        parameters={"concepts": CONCEPTS},
    ),
    dataset_query(
        "classes-of-concept",
        "The weight of the edge between a concept and each class, zero where there is none.",
        "class images class_size rate",
        """
MATCH (c:Concept {dataset: $dataset, name: $concept})
MATCH (y:Class {dataset: $dataset})
OPTIONAL MATCH (y)-[e:CO_OCCURS]->(c)
WITH y, coalesce(e.images, 0) AS images,
  coalesce(y.images, COUNT { (y)<-[:LABELED]-() }) AS class_size
RETURN y.name AS class, images, class_size, toFloat(images) / class_size AS rate
ORDER BY images DESC, class""",
        parameters={"concept": CONCEPT},
    ),
    dataset_query(
        "rare-concepts",
        "Concepts that few images contain, the rarest first: their imbalances rest on little.",
        "concept images",
        """
MATCH (c:Concept {dataset: $dataset})
WITH c, coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS images WHERE images <= $max_images
RETURN c.name AS concept, images
ORDER BY images, concept LIMIT $limit""",
        parameters={"max_images": Parameter("the most images", int, 10), "limit": LIMIT},
    ),
    dataset_query(
        "missing-concepts",
        "Concepts that a class never shows: no clique with them is common to all classes.",
        "class concept images",
        """
MATCH (y:Class {dataset: $dataset})
MATCH (c:Concept {dataset: $dataset})
WHERE ($classes IS NULL OR y.name IN $classes) AND NOT EXISTS { (y)-[:CO_OCCURS]->(c) }
RETURN y.name AS class, c.name AS concept,
       coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS images
ORDER BY images DESC, class, concept LIMIT $limit""",
        parameters={"classes": _CLASSES, "limit": LIMIT},
    ),
)
