"""Named Cypher reads by theme: each with its purpose, parameters and columns."""

from cobalance.graph.database.query import Query
from cobalance.graph.queries.catalogue import (
    cliques,
    concepts,
    counterfactuals,
    edges,
    evaluations,
    images,
    overview,
    plans,
    recounts,
)
from cobalance.graph.registry import Registry

CATALOGUE: Registry[Query] = Registry("query")

_THEMES = (
    *(recounts, cliques, concepts, overview, edges, images, plans, counterfactuals),
    evaluations,
)
for _theme in _THEMES:
    for _query in _theme.QUERIES:
        CATALOGUE.register(_query.name, _query)
