"""Groups of concepts to filter by: categories of attributes, and communities."""

from dataclasses import dataclass

import numpy as np

from cobalance.base.grouping import group_pairs
from cobalance.graph.annotations.attributes import list_attributes
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.queries.imbalances import leaning_concepts
from cobalance.statistics.summary import communities

NAMED = 3
"""Concepts that a group is called by: the most frequent ones."""
_TOGETHER = "together"


@dataclass(frozen=True)
class Facet:
    """A group of concepts, in ascending order.

    `id` is for links, `name` a category or the most frequent of the concepts, and `leaning` how
    many of them lean to a class by themselves.
    """

    id: str
    name: str
    concepts: tuple[str, ...]
    leaning: int


def read_communities(store: GraphStore, dataset: str) -> tuple[Facet, ...]:
    """Communities of concepts among `read_facets`, the largest first."""
    return tuple(
        facet for facet in read_facets(store, dataset) if facet.id.startswith(f"{_TOGETHER}:")
    )


def read_facets(store: GraphStore, dataset: str) -> tuple[Facet, ...]:
    """The categories of a dataset's attributes, then communities of its co-occurrence graph.

    Categories are those of attributes that have become concepts, see `list_attributes`. Communities
    are those of `cobalance.statistics.summary.communities` with two concepts and more, the
    largest first. What is one group of all concepts is left out, as it filters nothing.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    cliques = load_cliques(store, dataset)
    mined = {*cliques.concepts}
    attributes = list_attributes(store, dataset)
    categories = zip(attributes["category"], attributes["concept"], strict=True)
    groups = group_pairs(
        (("category", category), concept) for category, concept in categories if concept in mined
    )
    sizes, images = cliques.sizes(), cliques.counts.sum(axis=1)
    pairs, single = sizes == 2, sizes == 1
    frequency = np.zeros(len(mined), dtype=np.int64)
    frequency[cliques.members[single, 0]] = images[single]
    if pairs.any():
        found = communities(cliques.members[pairs][:, :2], images[pairs], len(mined))
        for code in range(int(found.max()) + 1):
            within = np.flatnonzero(found == code)
            first = within[np.argsort(-frequency[within], kind="stable")]
            names = [cliques.concepts[at] for at in first.tolist()]
            if len(names) > 1:
                groups[_TOGETHER, ", ".join(names[:NAMED])] = names
    useful = {key: names for key, names in groups.items() if {*names} < mined}
    leaning = leaning_concepts(store, dataset, cliques.concepts) if useful else set()
    return tuple(
        Facet(f"{kind}:{name}", name, tuple(sorted({*names})), len(leaning.intersection(names)))
        for (kind, name), names in useful.items()
    )
