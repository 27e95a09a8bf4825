"""Concepts with their images, over all classes and in each, by frequency or by skew."""

from cobalance.graph.database import Parameter, schema
from cobalance.graph.queries.catalogue.parameters import (
    CONCEPT,
    CONCEPTS,
    COUNTS_OF_CONCEPT,
    LIMIT,
    dataset_query,
)

_CLASSES = Parameter("only what these classes never show", list, None, schema.CLASS)

# Concepts that are always wanted come first; the rest are those with a part of the name.
_FOUND = """
WITH *, c.name IN $always AS always
WHERE always OR toLower(c.name) CONTAINS toLower($search)"""
_SHOWN = f"""
WITH collect(c) AS found
UNWIND found[..CASE WHEN $limit < size($always) THEN size($always) ELSE $limit END] AS c
RETURN c.name AS concept, coalesce(c.images, COUNT {{ (c)<-[:CONTAINS]-() }}) AS images,
       {COUNTS_OF_CONCEPT} AS counts, size(found) AS found"""
_SEARCH_PARAMETERS = {
    "search": Parameter("only concepts whose name contains this, in any case", default=""),
    "always": Parameter("concepts to return first, in any case", list, [], schema.CONCEPT),
    "limit": LIMIT,
}

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
    dataset_query(
        "frequent-concepts",
        "The most frequent concepts with their images in each class, and how many concepts were "
        "found.",
        "concept images counts found",
        """
MATCH (c:Concept {dataset: $dataset})"""
        + _FOUND
        + """
WITH c, always, coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS images
ORDER BY always DESC, images DESC, c.name"""
        + _SHOWN,
        parameters=_SEARCH_PARAMETERS,
    ),
    dataset_query(
        "skewed-concepts",
        "The concepts whose rates differ most surely between two sides, each one or more classes, "
        "by the z statistic of two proportions; and how many concepts were found.",
        "concept images counts found",
        """
MATCH (y:Class {dataset: $dataset})
WITH y ORDER BY y.name
WITH collect({class: y, images: coalesce(y.images, COUNT { (y)<-[:LABELED]-() })}) AS classes
WITH classes, CASE WHEN size($left) > 0 THEN $left ELSE [classes[0].class.name] END AS left_names
WITH [y IN classes | {
  class: y.class, images: y.images,
  left: CASE WHEN y.class.name IN left_names THEN 1 ELSE 0 END,
  right: CASE WHEN CASE WHEN size($right) > 0 THEN y.class.name IN $right
                   ELSE NOT y.class.name IN left_names END THEN 1 ELSE 0 END}] AS classes
WITH classes, toFloat(reduce(n = 0, y IN classes | n + y.left * y.images)) AS left_images,
  toFloat(reduce(n = 0, y IN classes | n + y.right * y.images)) AS right_images
UNWIND classes AS side
WITH side.class AS y, side.left AS left, side.right AS right, left_images, right_images
MATCH (y)-[e:CO_OCCURS]->(c:Concept)
WITH c, left_images, right_images, sum(left * e.images) AS l, sum(right * e.images) AS r
WITH c, l, r, l / left_images - r / right_images AS difference,
  (l + r) / (left_images + right_images) AS both, 1 / left_images + 1 / right_images AS spread
WITH c, l, r, difference, both * (1 - both) * spread AS variance"""
        + _FOUND
        + """
WITH c, always, l + r AS images,
  CASE WHEN variance > 0 THEN abs(difference) / sqrt(variance) ELSE 0 END AS z
ORDER BY always DESC, z DESC, images DESC, c.name"""
        + _SHOWN,
        parameters={
            "left": Parameter("the classes of one side; the first by name", list, [], schema.CLASS),
            "right": Parameter("the classes of the other; all the rest", list, [], schema.CLASS),
            **_SEARCH_PARAMETERS,
        },
    ),
)
