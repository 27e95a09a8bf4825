"""Mined cliques with their imbalances and statistics."""

from cobalance.graph.database import Parameter, schema
from cobalance.graph.queries.catalogue.parameters import CONCEPTS, LIMIT, dataset_query

_STATISTICS = (
    "gap over_represented under_represented lift log_odds_ratio log_odds_ratio_low "
    "log_odds_ratio_high p_value q_value test leans effect highest_rate lowest_rate clusters"
)
_CLIQUE_COLUMNS = f"concepts size counts {_STATISTICS}"
_RETURNED = ",\n       ".join(f"q.{name} AS {name}" for name in _STATISTICS.split())
CLIQUE_RETURN = f"""
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH q, y, counted ORDER BY y.name
WITH q, collect([y.name, counted.images]) AS counts
RETURN q.concepts AS concepts, q.size AS size, counts,
       {_RETURNED}"""

FILTER = """
  AND $min_size <= q.size AND q.size <= $max_size
  AND ($class IS NULL OR q.under_represented = $class)
  AND ($max_q_value IS NULL OR q.q_value <= $max_q_value)
  AND ($any_of IS NULL OR any(name IN q.concepts WHERE name IN $any_of))"""

_FILTER_PARAMETERS = {
    "min_gap": Parameter("the smallest gap, in images", int, 0),
    "class": Parameter("only cliques that this class is under-represented in", names=schema.CLASS),
    "min_size": Parameter("the smallest size", int, 1),
    "max_size": Parameter("the largest size", int, 100),
    "max_q_value": Parameter("the largest q-value", float),
    "any_of": Parameter("only cliques with one of these concepts", list, None, schema.CONCEPT),
    "limit": LIMIT,
}

# "q.gap + 0", or the planner may take the index of gaps, which has another order, and sort all.
QUERIES = (
    dataset_query(
        "imbalances",
        "The mined cliques by evidence: those with a q-value of at most 0.05 first, by the "
        "difference of their rates.",
        _CLIQUE_COLUMNS,
        f"""
MATCH (q:Clique {{dataset: $dataset}})
WHERE q.leans IS NOT NULL AND q.effect >= 0 AND q.gap + 0 >= $min_gap{FILTER}
WITH q ORDER BY q.dataset DESC, q.leans DESC, q.effect DESC, q.size, q.concepts
LIMIT $limit{CLIQUE_RETURN}
ORDER BY leans DESC, effect DESC, size, concepts""",
        reads_cliques=True,
        parameters=_FILTER_PARAMETERS,
    ),
    dataset_query(
        "imbalances-by-gap",
        "The mined cliques with the largest count gap, as in ConBias, with their statistics.",
        _CLIQUE_COLUMNS,
        f"""
MATCH (q:Clique {{dataset: $dataset}})
WHERE q.gap >= $min_gap{FILTER}
WITH q ORDER BY q.dataset DESC, q.gap DESC, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN}
ORDER BY gap DESC, size, concepts""",
        reads_cliques=True,
        parameters=_FILTER_PARAMETERS,
    ),
    dataset_query(
        "imbalances-with-concepts",
        "The mined cliques that contain all the given concepts, by evidence.",
        _CLIQUE_COLUMNS,
        f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
WITH c ORDER BY COUNT {{ (c)<-[:HAS]-() }} LIMIT 1
MATCH (c)<-[:HAS]-(q:Clique)
WHERE q.gap >= $min_gap AND all(name IN $concepts WHERE name IN q.concepts){FILTER}
WITH q ORDER BY q.leans DESC, q.effect DESC, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN}
ORDER BY leans DESC, effect DESC, size, concepts""",
        reads_cliques=True,
        parameters={"concepts": CONCEPTS, **_FILTER_PARAMETERS},
    ),
    dataset_query(
        "clique",
        "One mined clique with its statistics.",
        _CLIQUE_COLUMNS,
        """
MATCH (q:Clique {dataset: $dataset, concepts: $concepts})"""
        + CLIQUE_RETURN,
        reads_cliques=True,
        parameters={"concepts": CONCEPTS},
    ),
    dataset_query(
        "class-edge-weights",
        "The strongest mined edges between two concepts, with their weight in each class alone; "
        "all counts are of the split that was mined.",
        "concept_1 concept_2 images weights",
        """
MATCH (a:Concept {dataset: $dataset})-[:CO_OCCURS]->(b:Concept)
WHERE $concept IS NULL OR a.name = $concept OR b.name = $concept
MATCH (q:Clique {dataset: $dataset, concepts: [a.name, b.name]})
WITH a, b, q, reduce(n = 0, counted IN [(q)-[e:COUNTED_IN]->() | e.images] | n + counted) AS images
ORDER BY images DESC, a.name, b.name LIMIT $limit
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH a, b, images, y, counted ORDER BY y.name
RETURN a.name AS concept_1, b.name AS concept_2, images,
       collect([y.name, counted.images]) AS weights
ORDER BY images DESC, concept_1, concept_2""",
        reads_cliques=True,
        parameters={
            "concept": Parameter("only edges of this concept", names=schema.CONCEPT),
            "limit": LIMIT,
        },
    ),
)
