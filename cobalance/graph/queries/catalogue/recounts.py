"""Counts computed by the database from the images alone, to verify the mining kernel."""

from collections.abc import Iterator
from itertools import pairwise

from cobalance.graph.database import Parameter, Query
from cobalance.graph.queries.catalogue.parameters import (
    CONCEPT,
    CONCEPTS,
    RAREST_FIRST,
    dataset_query,
)

# The largest clique that is counted straight from the images.
MAX_SIZE = 4

_SPLIT = {
    "split": Parameter(
        "count only images of this split, as mined; without it, of all", is_name=True
    )
}

# Per-class counts of each group, zero for a class without any, then their summary: the
# paper's gap and its two classes (ties by name).
_SUMMARY = """
  reduce(most = counts[0], c IN counts | CASE WHEN c.images > most.images THEN c ELSE most END)
    AS most,
  reduce(least = counts[0], c IN counts | CASE WHEN c.images < least.images THEN c ELSE least END)
    AS least"""

_VERDICT = """most.images - least.images AS gap,
       CASE WHEN most.images > least.images THEN most.class END AS over_represented,
       CASE WHEN most.images > least.images THEN least.class END AS under_represented"""


def _from_images(size: int) -> str:
    """Cypher that counts every common clique of a size per class, straight from the images.

    One concept after another, each with those behind it: the groups that the database has to hold
    at once are then those of one concept.
    """
    names = [f"c{position}" for position in range(1, size + 1)]
    extensions = "".join(
        f"\n  MATCH (i)-[:CONTAINS]->({after}:Concept) "
        f"WHERE {before}.name < {after}.name AND NOT {after} IN uncommon"
        for before, after in pairwise(names)
    )

    return f"""
MATCH (y:Class {{dataset: $dataset}})
WHERE $split IS NULL OR EXISTS {{ (:Image {{dataset: $dataset, split: $split}})-[:LABELED]->(y) }}
WITH y ORDER BY y.name
WITH collect(y) AS classes
MATCH (c:Concept {{dataset: $dataset}})
WITH classes, c, all(y IN classes WHERE EXISTS {{
  MATCH (c)<-[:CONTAINS]-(i:Image)-[:LABELED]->(y) WHERE $split IS NULL OR i.split = $split
}}) AS common
WITH classes, collect(CASE WHEN common THEN c END) AS firsts,
  collect(CASE WHEN NOT common THEN c END) AS uncommon
UNWIND firsts AS c1
CALL (classes, uncommon, c1) {{
  MATCH (c1)<-[:CONTAINS]-(i:Image) WHERE $split IS NULL OR i.split = $split{extensions}
  MATCH (i)-[:LABELED]->(y:Class)
  WITH classes, {", ".join(names)}, y, count(*) AS images
  WITH classes, {", ".join(names)}, collect([y, images]) AS found
  RETURN [{", ".join(f"{name}.name" for name in names)}] AS concepts,
    [y IN classes | {{class: y.name,
      images: coalesce([f IN found WHERE f[0] = y | f[1]][0], 0)}}] AS counts
}}"""


def _of_size(size: int) -> Iterator[Query]:
    yield dataset_query(
        f"imbalances-from-images-{size}",
        f"Every common clique of size {size} with its count in each class, counted by the "
        "database alone: in all images, whatever was mined, or in those of a split.",
        "concepts counts gap over_represented under_represented",
        _from_images(size)
        + f"""
WITH concepts, counts,{_SUMMARY}
RETURN concepts, [c IN counts | [c.class, c.images]] AS counts,
       {_VERDICT}
ORDER BY gap DESC, concepts LIMIT $limit""",
        scans_images=True,
        counts_images=True,
        parameters={"limit": Parameter("the most rows to return", int, 1000), **_SPLIT},
    )
    yield dataset_query(
        f"generation-queries-from-images-{size}",
        f"What the planner `published` asks for at size {size}, by the database alone: for each "
        "common clique, and each class with fewer images than the class with most, the difference.",
        "class concepts n",
        _from_images(size)
        + """
WITH concepts, counts,
  reduce(most = 0, c IN counts | CASE WHEN c.images > most THEN c.images ELSE most END) AS most
UNWIND counts AS c
WITH concepts, c.class AS class, most - c.images AS n WHERE n > 0
RETURN class, concepts, n
ORDER BY n DESC, concepts, class LIMIT $limit""",
        scans_images=True,
        counts_images=True,
        parameters={"limit": Parameter("the most rows to return", int, 1000), **_SPLIT},
    )


QUERIES = (
    *(query for size in range(1, MAX_SIZE + 1) for query in _of_size(size)),
    dataset_query(
        "imbalance-of-concepts",
        "How many images of each class contain all the given concepts, counted from the images, "
        "of all splits or of one.",
        "class images class_size rate",
        RAREST_FIRST
        + """MATCH (rarest)<-[:CONTAINS]-(i)
WHERE all(c IN others WHERE EXISTS { (i)-[:CONTAINS]->(c) })
  AND ($split IS NULL OR i.split = $split)
MATCH (i)-[:LABELED]->(y:Class)
WITH y, count(*) AS found
WITH collect([y, found]) AS found
MATCH (y:Class {dataset: $dataset})
WITH y, coalesce([f IN found WHERE f[0] = y | f[1]][0], 0) AS images,
  CASE WHEN $split IS NULL THEN COUNT { (y)<-[:LABELED]-() }
    ELSE COUNT { (y)<-[:LABELED]-(i:Image) WHERE i.split = $split } END AS class_size
RETURN y.name AS class, images, class_size,
  CASE WHEN class_size > 0 THEN toFloat(images) / class_size END AS rate
ORDER BY images DESC, class""",
        counts_images=True,
        parameters={"concepts": CONCEPTS, **_SPLIT},
    ),
    dataset_query(
        "concepts-against-rest",
        "How many images with a concept contain all the given others, and how many without it, "
        "counted from the images, of all splits or of one.",
        "class images class_size rate",
        RAREST_FIRST
        + """MATCH (d:Concept {dataset: $dataset, name: $compared})
WITH d, COLLECT {
  MATCH (rarest)<-[:CONTAINS]-(i:Image)
  WHERE all(c IN others WHERE EXISTS { (i)-[:CONTAINS]->(c) })
    AND ($split IS NULL OR i.split = $split)
  RETURN EXISTS { (i)-[:CONTAINS]->(d) }
} AS found, COLLECT {
  MATCH (i:Image {dataset: $dataset}) WHERE $split IS NULL OR i.split = $split
  RETURN EXISTS { (i)-[:CONTAINS]->(d) }
} AS every
UNWIND [[true, d.name], [false, "no " + d.name]] AS side
WITH side[1] AS class, size([one IN found WHERE one = side[0]]) AS images,
  size([one IN every WHERE one = side[0]]) AS class_size
RETURN class, images, class_size,
  CASE WHEN class_size > 0 THEN toFloat(images) / class_size END AS rate
ORDER BY images DESC, class""",
        scans_images=True,
        counts_images=True,
        parameters={"concepts": CONCEPTS, "compared": CONCEPT, **_SPLIT},
    ),
    dataset_query(
        "edges-from-images",
        "Every edge of the concept graph with its weight, counted by the database alone.",
        "start end images",
        """
CALL () {
  MATCH (a:Concept {dataset: $dataset})<-[:CONTAINS]-(i:Image)-[:CONTAINS]->(b:Concept)
  WHERE a.name < b.name
  RETURN a.name AS start, b.name AS end, count(*) AS images
  UNION ALL
  MATCH (y:Class {dataset: $dataset})<-[:LABELED]-(i:Image)-[:CONTAINS]->(b:Concept)
  RETURN y.name AS start, b.name AS end, count(*) AS images
}
RETURN start, end, images ORDER BY images DESC, start, end""",
        scans_images=True,
        counts_images=True,
    ),
)
