"""Named Cypher reads by theme: each with its purpose, parameters and columns."""

from cobalance.base import Registry
from cobalance.graph.database import Query
from cobalance.graph.queries.catalogue import (
    cliques,
    concepts,
    edges,
    evaluations,
    images,
    plans,
    recounts,
)

CATALOGUE: Registry[Query] = Registry("query")

for _theme in (recounts, cliques, concepts, edges, images, plans, evaluations):
    for _query in _theme.QUERIES:
        CATALOGUE.register(_query.name, _query)
