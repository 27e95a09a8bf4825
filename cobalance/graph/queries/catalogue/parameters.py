"""Parameters and Cypher fragments shared by catalogue queries."""

from cobalance.graph.database import REQUIRED, Parameter, Query, schema

DATASET = Parameter("the dataset's name", default=REQUIRED, is_name=True)
CLASS = Parameter("the class's name", default=REQUIRED, names=schema.CLASS)
CONCEPT = Parameter("a concept's name", default=REQUIRED, names=schema.CONCEPT)
CONCEPTS = Parameter("the clique's concepts", list, REQUIRED, schema.CONCEPT)
PLAN = Parameter("the plan's name", default=REQUIRED, names=schema.PLAN)
LIMIT = Parameter("the most rows to return", int, 50)

# Of images with several concepts: those with the rarest are looked at, and asked for the others.
RAREST_FIRST = """
UNWIND $concepts AS name
MATCH (c:Concept {dataset: $dataset, name: name})
WITH c ORDER BY coalesce(c.images, COUNT { (c)<-[:CONTAINS]-() })
WITH collect(DISTINCT c) AS members
WHERE size(members) = size($concepts)
WITH members[0] AS rarest, members[1..] AS others
"""

# The counts of a concept in each class that shows it, by name of class.
COUNTS_OF_CONCEPT = """COLLECT {
  MATCH (c)<-[e:CO_OCCURS]-(y:Class) WITH y, e ORDER BY y.name RETURN [y.name, e.images]
}"""


def dataset_query(
    name: str,
    purpose: str,
    columns: str,
    text: str,
    *,
    parameters: dict[str, Parameter] | None = None,
    **flags: bool,
) -> Query:
    """Declare a read query on one dataset; `columns` is a string of names separated by spaces.

    The flags are fields of `Query`: ``scans_images``, ``reads_cliques`` and ``counts_images``.
    """
    named = {"dataset": DATASET, **(parameters or {})}
    return Query(
        purpose,
        text.strip(),
        name=name,
        columns=tuple(columns.split()),
        parameters=named,
        **flags,
    )
