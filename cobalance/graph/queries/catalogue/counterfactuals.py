"""Counterfactuals: the images made from one image, and those that lack a group."""

from cobalance.graph.database.query import Parameter
from cobalance.graph.queries.catalogue.parameters import LIMIT, dataset_query

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
