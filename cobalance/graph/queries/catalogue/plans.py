"""Plans with their queries and the remaining gaps; images that were edited for other groups."""

from cobalance.graph.database import Parameter
from cobalance.graph.queries.catalogue.parameters import LIMIT, PLAN, dataset_query

_SKIP = Parameter("how many to pass over", int, 0)

# One row for each edited image: its groups with their images, its own class where it is there, too,
# and the groups that its jobs ask for. An image's id is `generated/` and that of its candidate.
_TWINS = """
MATCH (i:Image {dataset: $dataset}) WHERE i.synthetic
MATCH (c:Candidate {id: substring(i.id, size('generated/'))})
MATCH (q:JobQuery {id: c.query}) WHERE q.source_image IS NOT NULL
MATCH (i)-[:LABELED]->(y:Class)
WITH q.source_image AS source, q.job AS job, y.name AS group, i.id AS image
ORDER BY source, group, image
WITH source, collect(DISTINCT job) AS jobs, collect(group) AS groups, collect(image) AS images
"""
_SOURCE = """
OPTIONAL MATCH (o:Image {dataset: $dataset, id: source})-[:LABELED]->(own:Class)
"""

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
            THEN coalesce(p.mined_as = toString(d.digest) + ' ' + d.mining
              AND d.cliques_digest = d.digest, false)
            ELSE true END AND coalesce(p.images_digest = d.digest, p.images_digest IS NULL)
            AS current
ORDER BY plan""",
    ),
    dataset_query(
        "plan-queries",
        "The generation queries of a plan: which images of which class, and how many; and the "
        "image that is edited where they are made from one, or images to make them from.",
        "class concepts n sources source_image caption",
        """
MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan})
RETURN g.class_name AS class, g.concepts AS concepts, g.n AS n, g.sources AS sources,
       g.source_image AS source_image, g.caption AS caption
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
    dataset_query(
        "counterfactual-twins",
        "The images that were made from one image, with the groups that they show, and the class "
        "of that image where the dataset has it, too.",
        "source source_class groups images",
        f"""{_TWINS}
ORDER BY source SKIP $skip LIMIT $limit
{_SOURCE}
RETURN source, own.name AS source_class, groups, images ORDER BY source""",
        scans_images=True,
        parameters={"skip": _SKIP, "limit": LIMIT},
    ),
    dataset_query(
        "unpaired-counterfactuals",
        "The edited images that lack a counterfactual of some group that their job asks for: a "
        "complete dataset has none.",
        "source source_class groups missing",
        f"""{_TWINS}
UNWIND jobs AS job
CALL (job) {{
  MATCH (a:JobQuery {{job: job}}) WHERE a.state IS NOT NULL AND a.source_image IS NOT NULL
  RETURN collect(DISTINCT a.class_name) AS wanted
}}
WITH source, groups, reduce(every = [], some IN collect(wanted) | every + some) AS wanted
{_SOURCE}
UNWIND wanted AS group
WITH DISTINCT source, own.name AS source_class, groups, group
WHERE NOT group IN groups AND coalesce(group <> source_class, true)
RETURN source, source_class, groups, collect(group) AS missing
ORDER BY source SKIP $skip LIMIT $limit""",
        scans_images=True,
        parameters={"skip": _SKIP, "limit": LIMIT},
    ),
)
