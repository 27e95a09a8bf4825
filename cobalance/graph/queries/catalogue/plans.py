"""Plans, their generation queries, and the remaining gaps."""

from cobalance.graph.database.query import Parameter
from cobalance.graph.queries.catalogue.parameters import LIMIT, PLAN, dataset_query

QUERIES = (
    dataset_query(
        "plans",
        "The plans of a dataset: how each was made, how many images it asks for, and whether it "
        "was made for the cliques, or the images to edit, that are there now.",
        "plan planner planner_options min_size max_size queries images current",
        """
MATCH (d:Dataset {name: $dataset})
MATCH (p:Plan {dataset: $dataset})
RETURN p.name AS plan, p.planner AS planner, coalesce(p.planner_options, '{}') AS planner_options,
       p.min_size AS min_size, p.max_size AS max_size,
       COUNT { (p)<-[:ASKED_BY]-() } AS queries, p.images AS images,
       CASE WHEN p.images_digest IS NULL OR p.mined_as IS NOT NULL
            THEN coalesce(p.mined_as = toString(d.cliques_digest) + ' ' + d.mining, false)
            ELSE true END AND coalesce(p.images_digest = d.digest, p.images_digest IS NULL)
            AS current
ORDER BY plan""",
    ),
    dataset_query(
        "plan-queries",
        "The generation queries of a plan: which images of which class, and how many; and the "
        "image that is edited where they are made from one.",
        "class concepts n source_image caption",
        """
MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan})
RETURN g.class_name AS class, g.concepts AS concepts, g.n AS n, g.source_image AS source_image,
       g.caption AS caption
ORDER BY n DESC, g.position, concepts, class LIMIT $limit""",
        parameters={"plan": PLAN, "limit": LIMIT},
    ),
    dataset_query(
        "plan-coverage",
        "The cliques of a plan's sizes with the largest gap, and the gap that the plan leaves: "
        "every image that it asks for counts in each clique that it contains.",
        "concepts size gap planned gap_after",
        """
MATCH (p:Plan {dataset: $dataset, name: $plan})
MATCH (q:Clique {dataset: $dataset})
WHERE q.gap >= 0 AND coalesce(p.min_size, 1) <= q.size AND q.size <= coalesce(p.max_size, q.size)
WITH p, q ORDER BY q.dataset DESC, q.gap DESC, q.size, q.concepts LIMIT $limit
WITH p, collect(q) AS cliques
MATCH (p)<-[:ASKED_BY]-(g:GenerationQuery)
WITH cliques, collect([g.concepts, g.class_name, g.n]) AS queries
UNWIND cliques AS q
WITH q, [g IN queries WHERE all(concept IN q.concepts WHERE concept IN g[0])] AS asked
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH q, asked, counted.images
  + reduce(n = 0, a IN asked | n + CASE WHEN a[1] = y.name THEN a[2] ELSE 0 END) AS images
RETURN q.concepts AS concepts, q.size AS size, q.gap AS gap,
       reduce(n = 0, a IN asked | n + a[2]) AS planned, max(images) - min(images) AS gap_after
ORDER BY gap DESC, size, concepts""",
        reads_cliques=True,
        parameters={"plan": PLAN, "limit": Parameter("the most rows to return", int, 10)},
    ),
)
