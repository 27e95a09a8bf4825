"""Edges of the concept graph: neighbours, edges among concepts and shortest links."""

from cobalance.graph.database import REQUIRED, Parameter, schema
from cobalance.graph.queries.catalogue.parameters import (
    CLASS,
    CONCEPT,
    CONCEPTS,
    LIMIT,
    dataset_query,
)

# The pair's clique has its counts per class. Without one the pair is not common to all classes,
# or was not mined, and the list is empty.
_COUNTS_OF_PAIR = """COLLECT {
  MATCH (q:Clique {dataset: $dataset, concepts: [a.name, b.name]})-[n:COUNTED_IN]->(y:Class)
  WITH y, n ORDER BY y.name
  RETURN [y.name, n.images]
}"""

QUERIES = (
    dataset_query(
        "neighbourhood",
        "The concepts that occur together with a concept, by how many images show both.",
        "concept images lift",
        """
MATCH (d:Concept {dataset: $dataset, name: $concept})
MATCH (d)-[e:CO_OCCURS]-(c:Concept)
WITH d, c, e.images AS images,
  coalesce(d.images, COUNT { (d)<-[:CONTAINS]-() }) AS with_d,
  coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() }) AS with_c
MATCH (s:Dataset {name: $dataset})
RETURN c.name AS concept, images, toFloat(images) * s.images / (with_d * with_c) AS lift
ORDER BY images DESC, concept
LIMIT $limit""",
        parameters={"concept": CONCEPT, "limit": LIMIT},
    ),
    dataset_query(
        "observed-over-expected",
        "Pairs of concepts by how many images they share, beside how many their frequencies say.",
        "concept_1 concept_2 images expected ratio",
        """
MATCH (s:Dataset {name: $dataset})
MATCH (a:Concept {dataset: $dataset})-[e:CO_OCCURS]->(b:Concept)
WITH a, b, e.images AS images, toFloat(coalesce(a.images, COUNT { (a)<-[:CONTAINS]-() }))
  * coalesce(b.images, COUNT { (b)<-[:CONTAINS]-() }) / s.images AS expected
RETURN a.name AS concept_1, b.name AS concept_2, images, expected, images / expected AS ratio
ORDER BY abs(images - expected) DESC, concept_1, concept_2
LIMIT $limit""",
        parameters={"limit": LIMIT},
    ),
    dataset_query(
        "edges-between-concepts",
        "The strongest edges among the given concepts, with the pair's count in each class where "
        "it was mined, and how many edges there are among them.",
        "concept_1 concept_2 images counts found",
        f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
WITH collect(c) AS given
UNWIND given AS a
MATCH (a)-[e:CO_OCCURS]->(b:Concept) WHERE b IN given
WITH a, b, e.images AS images ORDER BY images DESC, a.name, b.name
WITH collect({{a: a, b: b, images: images}}) AS edges
UNWIND edges[..$limit] AS edge
WITH edge.a AS a, edge.b AS b, edge.images AS images, size(edges) AS found
RETURN a.name AS concept_1, b.name AS concept_2, images, {_COUNTS_OF_PAIR} AS counts, found
ORDER BY images DESC, concept_1, concept_2""",
        reads_cliques=True,
        parameters={"concepts": CONCEPTS, "limit": LIMIT},
    ),
    dataset_query(
        "neighbours-of-concepts",
        "For each of the given concepts those that share most images with it, with the pair's "
        "count in each class where it was mined, and how many neighbours the concept has.",
        "concept neighbour images lift counts found",
        f"""
MATCH (s:Dataset {{name: $dataset}})
UNWIND $concepts AS name
MATCH (d:Concept {{dataset: $dataset, name: name}})
CALL (s, d) {{
  MATCH (d)-[e:CO_OCCURS]-(c:Concept)
  WITH c, e ORDER BY e.images DESC, c.name
  WITH collect([c, e]) AS edges
  UNWIND edges[..$limit] AS edge
  WITH edge[0] AS c, edge[1] AS e, size(edges) AS found
  WITH c, e, found, startNode(e) AS a, endNode(e) AS b
  RETURN c, e.images AS images, found, {_COUNTS_OF_PAIR} AS counts
}}
RETURN d.name AS concept, c.name AS neighbour, images,
       toFloat(images) * s.images
         / (coalesce(d.images, COUNT {{ (d)<-[:CONTAINS]-() }})
           * coalesce(c.images, COUNT {{ (c)<-[:CONTAINS]-() }})) AS lift,
       counts, found
ORDER BY concept, images DESC, neighbour""",
        reads_cliques=True,
        parameters={
            "concepts": CONCEPTS,
            "limit": Parameter("the most neighbours of each concept", int, 25),
        },
    ),
    dataset_query(
        "concepts-of-class",
        "The concepts that share most images with a class, and how many there are.",
        "concept images lift found",
        """
MATCH (s:Dataset {name: $dataset})
MATCH (y:Class {dataset: $dataset, name: $class})
MATCH (y)-[e:CO_OCCURS]->(c:Concept)
WITH s, y, c, e ORDER BY e.images DESC, c.name
WITH s, y, collect([c, e.images]) AS edges
UNWIND edges[..$limit] AS edge
WITH s, y, edge[0] AS c, edge[1] AS images, size(edges) AS found
RETURN c.name AS concept, images,
       toFloat(images) * s.images
         / (coalesce(y.images, COUNT { (y)<-[:LABELED]-() })
           * coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() })) AS lift,
       found
ORDER BY images DESC, concept""",
        parameters={"class": CLASS, "limit": LIMIT},
    ),
    dataset_query(
        "shortest-link",
        "The shortest chain of shared images from one concept to another: of those equally short "
        "the one whose weakest edge is strongest, then the one with the largest sum.",
        "concepts images",
        """
MATCH (a:Concept {dataset: $dataset, name: $concepts[0]})
MATCH (b:Concept {dataset: $dataset, name: $concepts[-1]})
WHERE a <> b
MATCH path = allShortestPaths((a)-[:CO_OCCURS*]-(b))
WHERE all(n IN nodes(path) WHERE n:Concept)
WITH path LIMIT 100000
WITH [n IN nodes(path) | n.name] AS concepts, [e IN relationships(path) | e.images] AS images
RETURN concepts, images
ORDER BY reduce(least = images[0], n IN images | CASE WHEN n < least THEN n ELSE least END) DESC,
         reduce(sum = 0, n IN images | sum + n) DESC, concepts
LIMIT 1""",
        parameters={"concepts": Parameter("the two concepts", list, REQUIRED, schema.CONCEPT)},
    ),
)
