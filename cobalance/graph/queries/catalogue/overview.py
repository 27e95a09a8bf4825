"""Concepts of the graph overview, by frequency or by skew."""

from cobalance.graph.database import schema
from cobalance.graph.database.query import Parameter
from cobalance.graph.queries.catalogue.parameters import COUNTS_OF_CONCEPT, LIMIT, dataset_query

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
